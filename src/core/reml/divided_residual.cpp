// A residual by shares: with rows of q that sum to 1,
//   sum_a theta_a diag(q_a) = theta_A I + sum_{a < A} (theta_a - theta_A) diag(q_a),
// so a model with I as its residual and the kernels diag(q_1), ..., diag(q_{A-1}) has the same H.
// Slopes change with the transpose of this linear map.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/reml/exact_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

}  // namespace

DividedResidualModel::DividedResidualModel(std::unique_ptr<ExactModel> model, int residuals)
    : ExactModel(model->y()),
      model_(std::move(model)),
      first_(static_cast<std::size_t>(model_->components() - residuals)) {}

std::vector<double> DividedResidualModel::with_identity(std::vector<double> theta) const {
  for (std::size_t a = first_; a + 1 < theta.size(); ++a) theta[a] -= theta.back();
  return theta;
}

void DividedResidualModel::add_slopes(std::size_t stride, double* slopes) const {
  const auto last = static_cast<std::size_t>(components()) - 1;
  for (std::size_t a = first_; a < last; ++a) slopes[last * stride] -= slopes[a * stride];
}

std::vector<double> DividedResidualModel::slopes(std::vector<double> of_model) const {
  add_slopes(1, of_model.data());
  return of_model;
}

std::vector<double> DividedResidualModel::curvatures(std::vector<double> of_model) const {
  const auto k = static_cast<std::size_t>(components());
  for (std::size_t i = 0; i < of_model.size() / k; ++i) add_slopes(1, &of_model[i * k]);
  for (std::size_t i = 0; i < of_model.size() / k; ++i) add_slopes(k, &of_model[i]);
  return of_model;
}

std::vector<double> DividedResidualModel::mean_diagonals() const {
  Vector means = model_->mean_diagonals();
  means.resize(first_);
  return means;
}

bool DividedResidualModel::move_to(const std::vector<double>& theta) {
  return model_->move_to(with_identity(theta));
}

Derivatives DividedResidualModel::derivatives(bool expected) {
  Derivatives at = model_->derivatives(expected);
  return {slopes(std::move(at.score)), slopes(std::move(at.traces)),
          curvatures(std::move(at.average)), curvatures(std::move(at.expected))};
}

std::vector<std::vector<double>> DividedResidualModel::starts(const std::vector<double>& lower) {
  Vector of_model = lower;
  std::fill(of_model.begin() + static_cast<std::ptrdiff_t>(first_), of_model.end() - 1, 0.0);
  std::vector<Vector> points = model_->starts(of_model);
  for (Vector& theta : points) {
    for (std::size_t a = first_; a + 1 < theta.size(); ++a) {
      theta[a] = std::max(theta[a] + theta.back(), lower[a]);
    }
  }
  return points;
}

}  // namespace ancify::reml
