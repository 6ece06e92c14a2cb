// The traits of a study, each in units in which it is about 1.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/multivariate/trait_model.h"

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
  std::vector<double> expected;  // expected information; empty if only products are known
  double log_likelihood = 0;
  double mc_log_likelihood = 0;  // SD of the Monte Carlo error
  std::vector<double> mc_score;  // covariance of the score's Monte Carlo error
  int probes = 0;
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

// The traits of data, and conversions to and from the user's units.
class TraitStudy {
 public:
  // `data` must outlive this. InputError for data that cannot be fitted, or for kernels of other
  // samples.
  TraitStudy(const TraitData& data, const Kernels& kernels);

  const std::vector<Trait>& traits() const { return traits_; }
  // True if each sample has all traits.
  bool complete() const;
  // The least eigenvalue of the residual covariance.
  double floor() const;
  // Multiplies each of theta's values, or of a matrix with a row and a column for each, by a power
  // of its unit.
  std::vector<double> scaled(std::vector<double> values, double power) const;
  double log_likelihood(double value) const;
  // A search's result in the user's units, with effects and genetic values at its theta.
  TraitFit finished(TraitFit fit, const TraitEffects& effects, Kernels& kernels) const;

 private:
  std::vector<double> units() const;
  void add_effects(const TraitEffects& effects, Kernels& kernels, TraitFit& fit) const;

  const TraitData& data_;
  std::vector<Trait> traits_;
  std::size_t components_;  // with the residual
};

}  // namespace ancify::reml
