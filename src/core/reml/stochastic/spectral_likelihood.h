// The restricted likelihood of one kernel and an identity residual, where all matrices commute:
// each of its parts is a sum over the spectrum of SKS.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/fit/steps.h"
#include "core/reml/linear_algebra/quadrature.h"

namespace ancify::reml {

class SpectralLikelihood {
 public:
  // `y`: y'f(SKS)y; `trace`: tr f(SKS) on the complement, which has dimension `freedom`.
  SpectralLikelihood(SpectralSum y, SpectralSum trace, std::int64_t freedom);

  // True if the covariance is positive definite at theta = (kernel, residual).
  bool is_positive(const std::vector<double>& theta) const;
  double log_likelihood(const std::vector<double>& theta) const;
  std::vector<double> score(const std::vector<double>& theta) const;
  // Average information, or the expected one.
  std::vector<double> information(const std::vector<double>& theta, bool expected) const;
  LocalModel at(const std::vector<double>& theta, const SearchSettings& settings) const;
  // The maximum of the likelihood under the bounds: steps from the best on a grid of variance
  // shares from 0 to 1. Empty if no start has a positive covariance.
  std::vector<double> maximum(const SearchSettings& settings) const;

 private:
  std::vector<double> best_start(const SearchSettings& settings) const;

  SpectralSum y_;
  SpectralSum trace_;
  double freedom_;
};

// f[0] = x / (theta_g x + theta_e) and f[1] = 1 / (theta_g x + theta_e), summed: y'P A_i P y
// squares the denominator (`power` 2), tr(P A_i) does not (1).
std::vector<double> component_sums(const SpectralSum& sum, const std::vector<double>& theta,
                                   int power);

}  // namespace ancify::reml
