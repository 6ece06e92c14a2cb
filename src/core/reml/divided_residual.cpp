// A residual by shares: with rows of q that sum to 1,
//   sum_a theta_a diag(q_a) = theta_A I + sum_{a < A} (theta_a - theta_A) diag(q_a),
// so a model with I as its residual and the kernels diag(q_1), ..., diag(q_{A-1}) has the same H.
// Slopes change with the transpose of this linear map.
#include "core/reml/divided_residual.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/reml/exact_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

}  // namespace

Vector DividedResidual::with_identity(Vector theta) const {
  const std::size_t last = theta.size() - 1;
  for (std::size_t a = last - more_; a < last; ++a) theta[a] -= theta[last];
  return theta;
}

Vector DividedResidual::divided(Vector of_model) const {
  const std::size_t last = of_model.size() - 1;
  for (std::size_t a = last - more_; a < last; ++a) of_model[a] += of_model[last];
  return of_model;
}

void DividedResidual::add_slopes(std::size_t components, std::size_t stride, double* slopes) const {
  const std::size_t last = components - 1;
  for (std::size_t a = last - more_; a < last; ++a) slopes[last * stride] -= slopes[a * stride];
}

Vector DividedResidual::slopes(Vector of_model) const {
  add_slopes(of_model.size(), 1, of_model.data());
  return of_model;
}

Vector DividedResidual::curvatures(Vector of_model, std::size_t components) const {
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

void ResidualKernels::forms(const double* a, const double* b, int columns, Precision precision,
                            double* forms) {
  const std::int64_t n = samples();
  if (kernels_ != nullptr) kernels_->forms(a, b, columns, precision, forms);
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

DividedResidualModel::DividedResidualModel(std::unique_ptr<ExactModel> model, int residuals)
    : ExactModel(model->y()),
      model_(std::move(model)),
      residual_(residuals),
      first_(static_cast<std::size_t>(model_->components() - residuals)) {}

Vector DividedResidualModel::mean_diagonals() const {
  Vector means = model_->mean_diagonals();
  means.resize(first_);
  return means;
}

bool DividedResidualModel::move_to(const Vector& theta) {
  return model_->move_to(residual_.with_identity(theta));
}

Derivatives DividedResidualModel::derivatives(bool expected) {
  Derivatives at = model_->derivatives(expected);
  const auto k = static_cast<std::size_t>(components());
  return {residual_.slopes(std::move(at.score)), residual_.slopes(std::move(at.traces)),
          residual_.curvatures(std::move(at.average), k),
          residual_.curvatures(std::move(at.expected), k)};
}

std::vector<Vector> DividedResidualModel::starts(const Vector& lower) {
  Vector of_model = lower;
  std::fill(of_model.begin() + static_cast<std::ptrdiff_t>(first_), of_model.end() - 1, 0.0);
  std::vector<Vector> points = model_->starts(of_model);
  for (Vector& theta : points) {
    theta = residual_.divided(std::move(theta));
    for (std::size_t a = first_; a + 1 < theta.size(); ++a) {
      theta[a] = std::max(theta[a], lower[a]);
    }
  }
  return points;
}

}  // namespace ancify::reml
