// Kinship of pairs of samples from the genotypes that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

// Counts of variants at which both samples of a pair have a call, by their genotypes.
struct PairCounts {
  std::uint32_t both_heterozygous = 0;
  std::uint32_t first_heterozygous = 0;  // the second is homozygous
  std::uint32_t second_heterozygous = 0;
  std::uint32_t both_homozygous = 0;
  std::uint32_t opposite = 0;  // both homozygous, for different alleles

  std::uint32_t variants() const {
    return both_heterozygous + first_heterozygous + second_heterozygous + both_homozygous;
  }
  // KING's robust estimate; NaN if one sample has no heterozygous genotype.
  double kinship() const;
};

// A pair of samples by their indices in the selection; first < second.
struct RelatedPair {
  std::int64_t first;
  std::int64_t second;
  PairCounts counts;
};

// The pairs with a kinship of at least `bound`, in the order of `first`, then `second`. Counts take
// `memory` bytes or less, so that the genotypes are read once for each group of samples whose pairs
// fit. Throws InputError for more than 2^32 - 1 variants.
std::vector<RelatedPair> related_pairs(const GenotypeFile& file, const GenotypeSelection& selection,
                                       double bound, std::int64_t memory, SimdLevel simd,
                                       int threads, JobControl& control);

}  // namespace ancify
