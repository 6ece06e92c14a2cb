// Computes the expected spectrum of samples from a density.
#pragma once

#include <vector>

#include "core/diffusion/density.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// Weights for a sample of `size` haplotypes of one population. A row holds the factors of the
// density at one grid point, one for each count of derived alleles from 0 to `size`.
struct SampleWeights {
  int size;
  std::vector<double> values;
};

// Integrates binomial probabilities against a density that is linear between grid points.
SampleWeights analytic_weights(const Grid& grid, int size);

// Integrates binomial probabilities by the trapezoid rule. If `ascertained`, only sites at which
// two further haplotypes of the population differ contribute; a factor of 2 is omitted.
SampleWeights direct_weights(const Grid& grid, int size, bool ascertained);

// Like direct_weights(), for inbred individuals of this ploidy: two alleles of an individual are
// identical by descent with probability `inbreeding` (Blischak and others 2020). `size` is a
// multiple of `ploidy`.
SampleWeights inbred_weights(const Grid& grid, int size, double inbreeding, int ploidy);

// The expected spectrum, given each population's weights. The first population's index changes
// fastest.
std::vector<double> sample(const Density& density, const std::vector<SampleWeights>& weights);

// The spectrum of samples of these sizes from admixed populations, by the trapezoid rule: an allele
// of sample k comes from population j with probability shares[k][j]. Interrupted if the job is
// stopped.
std::vector<double> sample_admixed(const Density& density, const std::vector<int>& sizes,
                                   const std::vector<std::vector<double>>& shares,
                                   const TaskContext& context);

}  // namespace ancify::diffusion
