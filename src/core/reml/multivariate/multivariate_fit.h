// REML of several traits, with kernels as dense matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/multivariate/trait_search.h"

namespace ancify::reml {

// t traits of n samples, with p shared fixed effects.
struct TraitData {
  std::size_t traits() const { return y.size() / samples; }
  std::size_t effects() const { return x.size() / samples; }

  std::size_t samples = 0;
  std::vector<double> y;           // n x t; NaN for a missing value
  std::vector<double> x;           // n x p, of full column rank in the samples of each trait
  std::vector<std::string> names;  // of components, for messages
};

// theta and its derivatives are packed by component, the residual's last.
struct TraitFit {
  std::vector<double> theta;
  std::vector<double> score;
  std::vector<double> average;   // average information
  std::vector<double> expected;  // expected information
  double log_likelihood = 0;
  std::vector<double> mean_diagonal;  // of each kernel
  bool converged = false;
  std::string status;
  std::string message;
  std::vector<Iteration> iterations;
  double passes = 0;
  std::vector<double> coefficients;             // p x t
  std::vector<double> coefficients_covariance;  // pt x pt
  std::vector<double> residual_projection;      // P y, n x t
  std::vector<double> genetic;                  // n x t x G
};

// Memory: four n x n matrices for one kernel and complete traits; otherwise one for each kernel,
// and three of the number of all values. InputError for data or kernels that cannot be fitted.
// Interrupted within a second of a stop request, but for the eigenvectors of one kernel.
TraitFit fit_traits(const TraitData& data, Kernels& kernels, const SearchSettings& settings,
                    const Workers& workers);

// The largest log-likelihood under each constraint. `theta`: the estimates without any.
std::vector<double> constrained_log_likelihoods(const TraitData& data, Kernels& kernels,
                                                const std::vector<double>& theta,
                                                const std::vector<TraitConstraint>& constraints,
                                                const SearchSettings& settings,
                                                const Workers& workers);

}  // namespace ancify::reml
