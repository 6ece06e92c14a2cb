// Products with H = sum_g theta_g K_g + theta_e I on the complement of the fixed effects.
#include "core/reml/solvers/covariance.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/reml/kernels/kernel_checks.h"

namespace ancify::reml {

RestrictedModel::RestrictedModel(const FitData& data, Kernels& kernels, const FixedEffects& fixed,
                                 const Workers& workers)
    : data(data), kernels(kernels), fixed(fixed), workers(workers) {
  check_samples(data, kernels);
  const int p = fixed.effects();
  std::vector<double> forms(area(components(), p));
  if (p > 0) {
    kernels.quadratic_forms(fixed.basis().data(), fixed.basis().data(), p, Precision::kFull,
                            forms.data());
  }
  for (int g = 0; g < components(); ++g) {
    const double whole = kernels.mean_diagonal(g) * static_cast<double>(samples());
    double trace = whole;
    for (int j = 0; j < p; ++j) trace -= forms[area(g, p) + static_cast<std::size_t>(j)];
    check_variance_left(trace, whole, name(static_cast<std::size_t>(g)));
    traces.push_back(trace);
  }
}

RestrictedCovariance::RestrictedCovariance(const RestrictedModel& model, std::vector<double> theta)
    : model_(model), theta_(std::move(theta)) {}

void RestrictedCovariance::times(const double* v, int columns, Precision precision,
                                 double* out) const {
  model_.kernels.times(theta_.data(), v, columns, precision, out);
  model_.workers.control.advance(1);
  model_.fixed.project(model_.workers, columns, out);
  const double residual = theta_.back();
  for_chunks(model_.workers, model_.samples(), [&](std::int64_t first, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      const std::int64_t begin = c * model_.samples() + first;
      for (std::int64_t i = begin; i < begin + size; ++i) out[i] += residual * v[i];
    }
  });
}

void RestrictedCovariance::throw_not_positive(const double* v) const {
  const auto components = static_cast<std::size_t>(model_.components());
  std::vector<double> forms(components);
  model_.kernels.quadratic_forms(v, v, 1, Precision::kFull, forms.data());
  for (std::size_t g = 0; g < components; ++g) forms[g] *= theta_[g];
  const auto least = std::min_element(forms.begin(), forms.end()) - forms.begin();
  const auto g = static_cast<std::size_t>(least);
  if (theta_[g] < 0) throw variance_too_low(model_, g, theta_[g]);
  if (!(forms[g] < 0)) {
    throw InputError("method = \"stochastic\" loses products of these " +
                     std::to_string(model_.samples()) +
                     " samples in rounding, as it may where samples are few: give method = "
                     "\"exact\"");
  }
  throw NotPositive(g, "the kernel of " + model_.name(g) +
                           " has a negative eigenvalue on these samples; a kernel must have none");
}

NotPositive variance_too_low(const RestrictedModel& model, std::size_t component, double variance) {
  return {component, "with a variance of " + std::to_string(variance) + " for " +
                         model.name(component) + " the covariance is not positive"};
}

}  // namespace ancify::reml
