#include "core/reml/covariance.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>


namespace ancify::reml {

RestrictedModel::RestrictedModel(Kernels& kernels, const FixedEffects& fixed,
                                 const Workers& workers)
    : kernels(kernels), fixed(fixed), workers(workers) {
  const int p = fixed.effects();
  std::vector<double> forms(static_cast<std::size_t>(components() * p));
  if (p > 0) {
    kernels.forms(fixed.basis().data(), fixed.basis().data(), p, Precision::kFull, forms.data());
  }
  for (int g = 0; g < components(); ++g) {
    double trace = kernels.mean_diagonal(g) * static_cast<double>(samples());
    for (int j = 0; j < p; ++j) trace -= forms[static_cast<std::size_t>(g * p + j)];
    traces.push_back(trace);
  }
}

RestrictedCovariance::RestrictedCovariance(const RestrictedModel& model, std::vector<double> theta)
    : model_(model), theta_(std::move(theta)) {}

void RestrictedCovariance::times(const double* v, int columns, Precision precision,
                                 double* out) const {
  model_.kernels.times(theta_.data(), v, columns, precision, out);
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
  model_.kernels.forms(v, v, 1, Precision::kFull, forms.data());
  for (std::size_t g = 0; g < components; ++g) forms[g] *= theta_[g];
  const auto g = std::min_element(forms.begin(), forms.end()) - forms.begin();
  const std::string name = "kernel " + std::to_string(g + 1);
  if (theta_[static_cast<std::size_t>(g)] < 0) {
    throw NotPositive(static_cast<int>(g),
                      "with a variance of " + std::to_string(theta_[static_cast<std::size_t>(g)]) +
                          " for " + name + " the covariance is not positive");
  }
  throw NotPositive(static_cast<int>(g), name + " has a negative eigenvalue, so the covariance is " +
                                             "not positive. Give a kernel without negative " +
                                             "eigenvalues");
}

}  // namespace ancify::reml
