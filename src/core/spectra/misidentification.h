// Ancestral misidentification: the number of sites, predicted by posteriors, whose derived allele
// is mistaken for the ancestral one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/spectra/hypergeometric.h"
#include "core/spectra/tuple_numbers.h"

namespace ancify {

// Sums over polymorphic sites, by their kind and the counts of called haplotypes. The sample sizes
// may therefore be chosen after all sites have been added.
class Misidentification {
 public:
  struct Sums {
    std::int64_t sites = 0;
    double errors = 0;    // sum of the probabilities that the other allele is ancestral
    double variance = 0;  // of the number of errors, if sites are independent
  };

  Misidentification(std::size_t populations, std::size_t kinds);

  // Adds a site: an allele count for each population, the posterior of the ancestral allele, and
  // the kind, from 0. Invariant sites are ignored.
  void add(const AlleleCount* counts, double posterior, std::size_t kind);
  // The sums of each kind, over sites with at least sizes[k] haplotypes called in population k.
  std::vector<Sums> of_sizes(const std::vector<int>& sizes) const;

 private:
  std::size_t populations_;
  std::size_t kinds_;
  TupleNumbers combinations_;  // of the haplotypes called in each population, and the kind
  std::vector<Sums> sums_;
  std::vector<std::uint64_t> words_;  // workspace for one combination
};

}  // namespace ancify
