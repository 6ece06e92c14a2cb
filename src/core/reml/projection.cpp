// P = (SHS)^+, as a matrix or by solves with a sketch of the kernels as preconditioner.
#include "core/reml/projection.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/lapack.h"
#include "core/reml/probe_plan.h"
#include "core/reml/solution.h"

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

DenseProjection::DenseProjection(std::int64_t n, Vector p, JobControl& control)
    : n_(n), p_(std::move(p)), control_(control) {}

Vector DenseProjection::times(Vector v, double /*tolerance*/) const {
  // A product of so many operations takes a fraction of a second.
  const std::int64_t most = std::max<std::int64_t>((std::int64_t{1} << 29) / n_ / n_, 1);
  const std::int64_t columns = static_cast<std::int64_t>(v.size()) / n_;
  Vector out(v.size());
  for (std::int64_t first = 0; first < columns; first += most) {
    TaskContext(control_).throw_if_stopped();
    symmetric_product(static_cast<int>(n_), static_cast<int>(std::min(most, columns - first)),
                      p_.data(), &v[area(n_, first)], &out[area(n_, first)]);
  }
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
