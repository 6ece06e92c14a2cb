// Traces tr(P A_i) by probes, with a preconditioner as control variate.
#pragma once

#include <cstddef>
#include <vector>

#include "core/reml/solvers/conjugate_gradients.h"
#include "core/reml/solvers/preconditioner.h"
#include "core/reml/solvers/probes.h"

namespace ancify::reml {

// The values of each probe for each component, the residual last.
class ProbeValues {
 public:
  explicit ProbeValues(std::size_t components, std::vector<double> values = {})
      : components_(components), values_(std::move(values)) {}

  std::size_t components() const { return components_; }
  int probes() const { return static_cast<int>(values_.size() / components_); }
  // The values, probe by probe.
  const std::vector<double>& values() const { return values_; }
  void add(const std::vector<double>& of_probe) {
    values_.insert(values_.end(), of_probe.begin(), of_probe.end());
  }
  std::vector<double> mean() const;
  // The covariance of the means, components x components; 0 for fewer than two probes. A share
  // fitted to the probes costs one degree of freedom.
  std::vector<double> covariance_of_mean() const;
  // These values minus the values of matching probes in `other`.
  ProbeValues minus(const ProbeValues& other) const;

 private:
  friend ProbeValues less_first_order(const ProbeValues& values, double share);

  std::size_t components_;
  std::vector<double> values_;
  int fitted_ = 0;  // shares
};

// For columns z on the complement and x = P z, two values for each component: all first values,
// then all second ones. The mean of the first, z'P A_i z - z'M^+ A~_i z, is tr(P A_i) - tr(M^+
// A~_i). The second is its first-order approximation, whose mean is 0. Takes two passes.
ProbeValues trace_values(const Sketch& sketch, const RestrictedCovariance& covariance,
                         const Preconditioner& preconditioner, int columns, const double* z,
                         const double* x);

// The share of the second half of `values` that minimises the variance left in the first half,
// summed over components in these `units`. 0 for fewer than three probes, which a share would
// overfit.
double best_share(const ProbeValues& values, const std::vector<double>& units);

// Units of traces by component: 1 / sqrt(I_ii), the standard errors if nothing else were fitted.
// They exist for a variance of 0 too.
std::vector<double> trace_units(const std::vector<double>& information);

// The first half of `values` minus a share of the second half, as from best_share().
ProbeValues less_first_order(const ProbeValues& values, double share);

}  // namespace ancify::reml
