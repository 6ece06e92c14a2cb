// Packs alleles of an array of genotypes as calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/genotype/zarr_array.h"

namespace ancify {

// An ALT allele of a site: its number from 1, the number of the site's alleles, and alleles whose
// calls are missing.
struct CountedAllele {
  int alt;
  int alleles;
  std::vector<int> no_alleles;
};

// Packs the calls of n samples as GenotypeFile::read() does, from alleles of an array of variants,
// samples and copies. `begin`: the index of the first sample's first allele in the chunk. As in a
// VCF, a haploid call counts twice, and a call with a missing allele is missing. Returns the index
// of the first sample with more than two alleles, or with an allele that the site does not have; n
// if there is none.
std::int64_t pack_zarr_calls(const ZarrIntegers& chunk, std::int64_t begin, std::int64_t n,
                             const CountedAllele& counted, std::uint8_t* calls);

}  // namespace ancify
