// P = (SHS)^+, as a matrix or by solves with a sketch of the kernels as preconditioner.
#include "core/reml/inference/projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/linear_algebra/large_matrices.h"
#include "core/reml/stochastic/probe_plan.h"
#include "core/reml/stochastic/solution.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

Sketch sketch_at(const RestrictedModel& model, const Vector& theta, std::uint64_t seed) {
  StochasticSettings settings;
  settings.seed = seed;
  Vector weights(theta.begin(), theta.end() - 1);
  if (*std::max_element(weights.begin(), weights.end()) <= 0) weights.assign(weights.size(), 1);
  return choose_sketch(model, weights, settings);
}

}  // namespace

DenseProjection::DenseProjection(Vector p, const Workers& workers)
    : p_(std::move(p)), workers_(workers) {}

Vector DenseProjection::times(Vector v, double /*tolerance*/) const {
  const auto n = std::llround(std::sqrt(static_cast<double>(p_.size())));
  Vector out(v.size());
  symmetric_times(workers_, n, p_.data(), static_cast<std::int64_t>(v.size()) / n, v.data(),
                  out.data());
  return out;
}

SolvedProjection::SolvedProjection(const RestrictedModel& model, const Vector& theta,
                                   std::uint64_t seed)
    : model_(model),
      covariance_(model, theta),
      sketch_(sketch_at(model, theta, seed)),
      preconditioner_(sketch_, theta) {}

Vector SolvedProjection::times(Vector v, double tolerance) const {
  const std::int64_t n = model_.samples();
  const std::int64_t columns = static_cast<std::int64_t>(v.size()) / n;
  model_.fixed.project(model_.workers, static_cast<int>(columns), v.data());
  Vector solved(v.size());
  if (!solve_columns(covariance_, preconditioner_, v.data(),
                     Vector(static_cast<std::size_t>(columns), tolerance), columns_for(n),
                     solved.data())) {
    throw InputError(unsolved_message());
  }
  return solved;
}

}  // namespace ancify::reml
