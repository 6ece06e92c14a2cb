// The restricted likelihood with a residual variance for each share, by the model with residual I
// and further kernels (kernels/heterogeneous_residual.h).
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/reml/exact/exact_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

}  // namespace

HeterogeneousModel::HeterogeneousModel(std::unique_ptr<ExactModel> model, int residuals)
    : ExactModel(model->y()),
      model_(std::move(model)),
      residual_(residuals),
      first_(static_cast<std::size_t>(model_->components() - residuals)) {}

Vector HeterogeneousModel::mean_diagonals() const {
  Vector means = model_->mean_diagonals();
  means.resize(first_);
  return means;
}

bool HeterogeneousModel::move_to(const Vector& theta) {
  return model_->move_to(residual_.with_identity(theta));
}

Derivatives HeterogeneousModel::derivatives(bool expected) {
  Derivatives at = model_->derivatives(expected);
  const auto k = static_cast<std::size_t>(components());
  return {residual_.slopes(std::move(at.score)), residual_.slopes(std::move(at.traces)),
          residual_.curvatures(std::move(at.average), k),
          residual_.curvatures(std::move(at.expected), k)};
}

std::vector<Vector> HeterogeneousModel::starts(const Vector& lower) {
  Vector of_model = lower;
  std::fill(of_model.begin() + static_cast<std::ptrdiff_t>(first_), of_model.end() - 1, 0.0);
  std::vector<Vector> points = model_->starts(of_model);
  for (Vector& theta : points) {
    theta = residual_.by_share(std::move(theta));
    for (std::size_t a = first_; a + 1 < theta.size(); ++a) {
      theta[a] = std::max(theta[a], lower[a]);
    }
  }
  return points;
}

}  // namespace ancify::reml
