// The control variate: tr(P A_i) = tr(M^+ A~_i) + mean over z of [z'P A_i z - z'M^+ A~_i z], where
// M^+ A~_i costs no solve. Measured for 48 and 96 solved columns, n = 600, rank 150, the error
// times sqrt(columns) / SE is .55 to .9; Hutchinson's .8 to 1.0, XTrace's 1.0 to 1.2, Hutch++'s 1.1
// to 1.5.
#include "core/reml/traces.h"

#include <cstddef>

namespace ancify::reml {

std::vector<double> ProbeValues::mean() const {
  std::vector<double> sum(components_);
  for (std::size_t k = 0; k < values_.size(); ++k) sum[k % components_] += values_[k];
  for (double& value : sum) value /= static_cast<double>(probes());
  return sum;
}

std::vector<double> ProbeValues::covariance_of_mean() const {
  const std::vector<double> center = mean();
  std::vector<double> covariance(components_ * components_);
  const auto n = static_cast<double>(probes());
  if (probes() < 2) return covariance;
  for (std::size_t first = 0; first < values_.size(); first += components_) {
    for (std::size_t i = 0; i < components_; ++i) {
      for (std::size_t j = 0; j < components_; ++j) {
        covariance[j * components_ + i] +=
            (values_[first + i] - center[i]) * (values_[first + j] - center[j]) / (n * (n - 1));
      }
    }
  }
  return covariance;
}

ProbeValues ProbeValues::minus(const ProbeValues& other) const {
  ProbeValues result = *this;
  for (std::size_t k = 0; k < values_.size(); ++k) result.values_[k] -= other.values_[k];
  return result;
}

ProbeValues trace_values(const Sketch& sketch, const Preconditioner& preconditioner, int columns,
                         const double* z, const double* x) {
  const RestrictedModel& model = sketch.model();
  const auto components = static_cast<std::size_t>(model.components()) + 1;
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> forms(components * width);
  model.kernels.forms(x, z, columns, Precision::kProbes, forms.data());
  column_products(model.workers, model.samples(), columns, x, z, &forms[(components - 1) * width]);
  const std::vector<double> variate = preconditioner.forms(Shadows(sketch, columns, z));
  ProbeValues values(components);
  std::vector<double> of_probe(components);
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t i = 0; i < components; ++i) {
      of_probe[i] = forms[i * width + c] - variate[i * width + c];
    }
    values.add(of_probe);
  }
  return values;
}

}  // namespace ancify::reml
