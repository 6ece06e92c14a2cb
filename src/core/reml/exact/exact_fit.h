// Exact REML, with kernels as dense matrices.
#pragma once

#include <vector>

#include "core/reml/exact/exact_model.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// Fits variance components. Memory: n x n values for one kernel; with several, one such matrix for
// each and four more. InputError for data or kernels that cannot be fitted. Interrupted within a
// second of a stop request.
Fit fit_exact(const FitData& data, Kernels& kernels, const SearchSettings& settings,
              const Workers& workers);

// The restricted likelihood at a point.
struct LikelihoodAt {
  double log_likelihood;
  double quadratic;  // y'Py
  Derivatives derivatives;
};

// The likelihood at each of `thetas`, with expected information if `expected`. InputError if H is
// not positive at one of them.
std::vector<LikelihoodAt> likelihoods_at(const FitData& data, Kernels& kernels,
                                         const std::vector<std::vector<double>>& thetas,
                                         bool expected, const Workers& workers);

// Score, average information and P y at theta. InputError as above.
LikelihoodPoint exact_point(const FitData& data, Kernels& kernels, const std::vector<double>& theta,
                            const Workers& workers);

// P at theta, n x n. InputError if H is not positive there.
std::vector<double> projection_at(const FitData& data, Kernels& kernels,
                                  const std::vector<double>& theta, const Workers& workers);

}  // namespace ancify::reml
