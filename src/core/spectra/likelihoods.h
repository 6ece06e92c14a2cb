// Spectra from genotype likelihoods, without calling genotypes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/spectra/site_reader.h"

namespace ancify {

// For each population, a site has the likelihoods of 0, 1, ..., n derived copies in a sample of n
// haplotypes.
struct SiteLikelihoods {
  std::vector<int> sizes;        // haplotypes of each population
  std::vector<float> values;     // all values of a site, then of the next site
  std::vector<float> posterior;  // of the ancestral allele
  std::vector<int> window;       // from 0

  std::int64_t sites() const { return static_cast<std::int64_t>(posterior.size()); }
};

struct LikelihoodSites : RecordTotals {
  SiteLikelihoods table;
  std::int64_t without = 0;  // sites without likelihoods
  int windows = 0;
};

// The likelihoods of a sample of diploid individuals. `genotypes` holds three for each individual,
// of 0, 1 and 2 derived alleles. Writes 1 + 2 * individuals values, of which the largest is 1.
void sample_likelihoods(const std::vector<float>& genotypes, float* values);

// Reads all records of options.variants, with likelihoods of GL or PL. `window` is a window's
// length in bases; 0 for none. Throws the errors of SiteReader, and FormatError for an impossible
// likelihood or a sample that is not diploid.
LikelihoodSites read_likelihoods(const SiteReaderOptions& options, std::int64_t window,
                                 JobControl& control);

// A step of the EM algorithm.
struct LikelihoodStep {
  std::vector<double> counts;  // expected sites of each cell, the first population fastest
  double log_likelihood = 0;
};

// `prior` has a probability for each cell, `weights` a weight for each window's sites. The number
// of threads does not change the result.
LikelihoodStep likelihood_step(const SiteLikelihoods& sites, const std::vector<double>& prior,
                               const std::vector<int>& weights, int threads, JobControl& control);

}  // namespace ancify
