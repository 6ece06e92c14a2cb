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

  int probes() const { return static_cast<int>(values_.size() / components_); }
  // The numbers of a probe after those of earlier ones.
  const std::vector<double>& values() const { return values_; }
  void add(const std::vector<double>& of_probe) {
    values_.insert(values_.end(), of_probe.begin(), of_probe.end());
  }
  std::vector<double> mean() const;
  // The covariance of the means, components x components; 0 for less than two probes.
  std::vector<double> covariance_of_mean() const;
  // These numbers less those of the same probes in `other`.
  ProbeValues minus(const ProbeValues& other) const;

 private:
  std::size_t components_;
  std::vector<double> values_;
};

// For columns z on the complement and x = P z: z'P A_i P z - z'M^+ A_i z, whose mean is
// tr(P A_i) - tr(M^+ A_i).
ProbeValues trace_values(const Sketch& sketch, const Preconditioner& preconditioner, int columns,
                         const double* z, const double* x);

}  // namespace ancify::reml
