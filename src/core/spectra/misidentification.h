// How often the wrong allele is taken for the ancestral one, as posteriors have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/spectra/hypergeometric.h"
#include "core/spectra/tuple_numbers.h"

namespace ancify {

// Sums over the sites of a kind that vary in the sample, by the haplotypes called, so that they can
// be had for sizes that become known afterwards.
class Misidentification {
 public:
  struct Sums {
    std::int64_t sites = 0;
    double errors = 0;    // of the probability that the other allele is ancestral
    double variance = 0;  // of what of this is chance, if sites are independent
  };

  Misidentification(std::size_t populations, std::size_t kinds);

  // As for a SiteTable; `kind` from 0.
  void add(const AlleleCount* counts, double posterior, std::size_t kind);
  // By kind, of the sites where so many are called in each population.
  std::vector<Sums> of_sizes(const std::vector<int>& sizes) const;

 private:
  std::size_t populations_;
  std::size_t kinds_;
  TupleNumbers combinations_;  // what is called in each population, and the kind
  std::vector<Sums> sums_;
  std::vector<std::uint64_t> words_;  // room for those of one combination
};

}  // namespace ancify
