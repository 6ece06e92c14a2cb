// The covariance of a response on the complement of its fixed effects.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/reml/fit/fixed_effects.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// The model that all parts of a stochastic fit share. All constructor arguments must outlive it.
struct RestrictedModel {
  // `kernels`: with several residuals, ResidualKernels. InputError for a kernel that has no
  // variance on the complement.
  RestrictedModel(const FitData& data, Kernels& kernels, const FixedEffects& fixed,
                  const Workers& workers);

  std::int64_t samples() const { return fixed.samples(); }
  int components() const { return kernels.components(); }
  std::string name(std::size_t component) const { return component_name(data, component); }

  const FitData& data;
  Kernels& kernels;
  const FixedEffects& fixed;
  Workers workers;
  std::vector<double> traces;  // tr(S K_g S)
};

// A covariance is not positive definite. `component`: the responsible kernel, from 0.
class NotPositive : public InputError {
 public:
  NotPositive(std::size_t component, const std::string& message)
      : InputError(message), component(component) {}
  std::size_t component;
};

// The error for a negative variance that makes a covariance indefinite.
NotPositive variance_too_low(const RestrictedModel& model, std::size_t component, double variance);

// S H S with H = sum_g theta_g K_g + theta_e I; theta has the residual last. `model` must outlive
// this.
class RestrictedCovariance {
 public:
  RestrictedCovariance(const RestrictedModel& model, std::vector<double> theta);

  const RestrictedModel& model() const { return model_; }
  const std::vector<double>& theta() const { return theta_; }
  // out = S H v for columns v on the complement.
  void times(const double* v, int columns, Precision precision, double* out) const;
  // Throws NotPositive for v'Hv <= 0, with the responsible kernel; InputError if rounding alone is
  // responsible.
  [[noreturn]] void throw_not_positive(const double* v) const;

 private:
  const RestrictedModel& model_;
  std::vector<double> theta_;
};

}  // namespace ancify::reml
