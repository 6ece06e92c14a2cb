// Traces tr(P A_i) by probes, with a preconditioner as control variate.
#pragma once

#include <cstddef>
#include <vector>

#include "core/reml/conjugate_gradients.h"
#include "core/reml/preconditioner.h"
#include "core/reml/probes.h"

namespace ancify::reml {

// Numbers that each probe gives for each component, the residual last.
class ProbeValues {
 public:
  explicit ProbeValues(std::size_t components, std::vector<double> values = {})
      : components_(components), values_(std::move(values)) {}

  std::size_t components() const { return components_; }
  int probes() const { return static_cast<int>(values_.size() / components_); }
  // The numbers of a probe after those of earlier ones.
  const std::vector<double>& values() const { return values_; }
  void add(const std::vector<double>& of_probe) {
    values_.insert(values_.end(), of_probe.begin(), of_probe.end());
  }
  std::vector<double> mean() const;
  // The covariance of the means, components x components; 0 for less than two probes. A share that
  // was fitted to the probes counts as one of them.
  std::vector<double> covariance_of_mean() const;
  // These numbers less those of the same probes in `other`.
  ProbeValues minus(const ProbeValues& other) const;

 private:
  friend ProbeValues less_first_order(const ProbeValues& values, double share);

  std::size_t components_;
  std::vector<double> values_;
  int fitted_ = 0;  // shares
};

// For columns z on the complement and x = P z, two numbers for each component: all first ones, then
// all others. The mean of the first, z'P A_i z - z'M^+ A~_i z, is tr(P A_i) - tr(M^+ A~_i). The
// other is what that is to the first order, and its mean is 0. Two passes.
ProbeValues trace_values(const Sketch& sketch, const RestrictedCovariance& covariance,
                         const Preconditioner& preconditioner, int columns, const double* z,
                         const double* x);

// The share of the second half of `values` that leaves the first half the least variance, summed
// over the components, whose numbers are multiplied by `units`. 0 for less than three probes, to
// which a share fits too well.
double best_share(const ProbeValues& values, const std::vector<double>& units);

// The first half of `values` less a share of the second half, as best_share() gives it.
ProbeValues less_first_order(const ProbeValues& values, double share);

}  // namespace ancify::reml
