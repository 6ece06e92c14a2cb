// REML with all numbers exact: the kernels as dense matrices.
#pragma once

#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/fit.h"
#include "core/reml/kernels.h"

namespace ancify::reml {

// Fits variance components. Memory: n x n numbers for one kernel; as many for each of several and
// twice more. InputError for data or kernels that cannot be fitted. Interrupted within a second of
// a stop request.
Fit fit_exact(const FitData& data, Kernels& kernels, const SearchSettings& settings,
              JobControl& control);

// The restricted likelihood at a point.
struct LikelihoodAt {
  double log_likelihood;  // -infinity if H is not positive there; the rest is then empty
  double quadratic;       // y'Py
  std::vector<double> score;
  std::vector<double> traces;    // tr(P K_i)
  std::vector<double> average;   // average information
  std::vector<double> expected;  // expected information
};

// The likelihood at each of `thetas`.
std::vector<LikelihoodAt> likelihoods_at(const FitData& data, Kernels& kernels,
                                         const std::vector<std::vector<double>>& thetas,
                                         JobControl& control);

}  // namespace ancify::reml
