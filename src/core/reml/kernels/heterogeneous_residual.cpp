// Heterogeneous residual variance: with rows of q that sum to 1,
//   sum_a theta_a diag(q_a) = theta_A I + sum_{a < A} (theta_a - theta_A) diag(q_a),
// so a model with residual I and the kernels diag(q_1), ..., diag(q_{A-1}) has an identical H.
// Gradients change with the transpose of this linear map.
#include "core/reml/kernels/heterogeneous_residual.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

}  // namespace

Vector HeterogeneousResidual::with_identity(Vector theta) const {
  const std::size_t last = theta.size() - 1;
  for (std::size_t a = last - more_; a < last; ++a) theta[a] -= theta[last];
  return theta;
}

Vector HeterogeneousResidual::by_share(Vector of_model) const {
  const std::size_t last = of_model.size() - 1;
  for (std::size_t a = last - more_; a < last; ++a) of_model[a] += of_model[last];
  return of_model;
}

void HeterogeneousResidual::add_slopes(std::size_t components, std::size_t stride,
                                       double* slopes) const {
  const std::size_t last = components - 1;
  for (std::size_t a = last - more_; a < last; ++a) slopes[last * stride] -= slopes[a * stride];
}

Vector HeterogeneousResidual::slopes(Vector of_model) const {
  add_slopes(of_model.size(), 1, of_model.data());
  return of_model;
}

Vector HeterogeneousResidual::curvatures(Vector of_model, std::size_t components) const {
  const std::size_t columns = of_model.size() / components;  // 0 if there is no matrix
  for (std::size_t i = 0; i < columns; ++i) add_slopes(components, 1, &of_model[i * components]);
  for (std::size_t i = 0; i < columns; ++i) add_slopes(components, components, &of_model[i]);
  return of_model;
}

double ResidualKernels::mean_diagonal(int component) const {
  if (component < given()) return kernels_->mean_diagonal(component);
  return data_.mean_residual(component - given());
}

void ResidualKernels::times(const double* theta, const double* v, int columns, Precision precision,
                            double* out) {
  const std::int64_t n = samples();
  if (kernels_ == nullptr) {
    std::fill_n(out, n * columns, 0.0);
  } else {
    kernels_->times(theta, v, columns, precision, out);
  }
  for (int g = given(); g < components(); ++g) {
    if (theta[g] == 0) continue;
    const double* const q = shares(g);
    for (int c = 0; c < columns; ++c) {
      for (std::int64_t i = 0; i < n; ++i) out[c * n + i] += theta[g] * q[i] * v[c * n + i];
    }
  }
}

void ResidualKernels::quadratic_forms(const double* a, const double* b, int columns,
                                      Precision precision, double* forms) {
  const std::int64_t n = samples();
  if (kernels_ != nullptr) kernels_->quadratic_forms(a, b, columns, precision, forms);
  for (int g = given(); g < components(); ++g) {
    const double* const q = shares(g);
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += q[i] * a[c * n + i] * b[c * n + i];
      forms[g * columns + c] = sum;
    }
  }
}

void ResidualKernels::dense(int component, double* out) {
  if (component < given()) return kernels_->dense(component, out);
  const std::int64_t n = samples();
  std::fill_n(out, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) out[i * (n + 1)] = shares(component)[i];
}

}  // namespace ancify::reml
