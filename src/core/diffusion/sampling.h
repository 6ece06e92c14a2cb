// From a density to the expected spectrum of samples.
#pragma once

#include <vector>

#include "core/diffusion/density.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// For each number of derived alleles in a sample of one population, from 0 to `size`, what each
// grid point's density adds to its expectation: a row for each point.
struct SampleWeights {
  int size;
  std::vector<double> values;
};

// The binomial probabilities' integral with a density that is linear between the points.
SampleWeights analytic_weights(const Grid& grid, int size);

// Their sum over the points, by the trapezoid rule. `ascertained`: of sites where two more
// haplotypes of the population differ, but for a factor of 2.
SampleWeights direct_weights(const Grid& grid, int size, bool ascertained);

// The same for inbred organisms: within one of `ploidy` alleles, two are alike by descent with this
// probability (Blischak and others 2020). `size` is a multiple of `ploidy`.
SampleWeights inbred_weights(const Grid& grid, int size, double inbreeding, int ploidy);

// The spectrum, one population's weights each, the first population's number fastest.
std::vector<double> sample(const Density& density, const std::vector<SampleWeights>& weights);

// Samples of admixed populations: alleles of sample k come from population j with probability
// shares[k][j]. By the trapezoid rule.
std::vector<double> sample_admixed(const Density& density, const std::vector<int>& sizes,
                                   const std::vector<std::vector<double>>& shares,
                                   const TaskContext& context);

}  // namespace ancify::diffusion
