// With X = QR and P = (SHS)^+, no column of X needs a solve:
//   X b = y - H P y,  cov(b) = R^-1 [Q'HQ - (SHQ)'P(SHQ)] R'^-1.
#include "core/reml/stochastic/solution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// H Q, n x p.
Vector times_basis(const RestrictedCovariance& covariance) {
  const RestrictedModel& model = covariance.model();
  const Vector& q = model.fixed.basis();
  Vector hq(q.size());
  if (q.empty()) return hq;
  model.kernels.times(covariance.theta().data(), q.data(), model.fixed.effects(), Precision::kFull,
                      hq.data());
  for (std::size_t i = 0; i < hq.size(); ++i) hq[i] += covariance.theta().back() * q[i];
  return hq;
}

// Q'HQ - b'x, p x p; its triangles differ only by errors of x.
Vector effects_covariance(const RestrictedModel& model, const Vector& hq, const double* b,
                          const double* x) {
  const std::int64_t n = model.samples();
  const int p = model.fixed.effects();
  Vector all(area(p, p));
  Vector less(all.size());
  cross_block(model.workers, n, p, p, model.fixed.basis().data(), hq.data(), all.data());
  cross_block(model.workers, n, p, p, b, x, less.data());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] -= less[k];
  for (int j = 0; j < p; ++j) {
    for (int i = 0; i < j; ++i) {
      double& upper = all[area(p, j) + static_cast<std::size_t>(i)];
      double& lower = all[area(p, i) + static_cast<std::size_t>(j)];
      upper = lower = (upper + lower) / 2;
    }
  }
  return model.fixed.covariance(std::move(all));
}

}  // namespace

SolveTolerances::SolveTolerances(double tolerance)
    : response(std::min(1e-8, 0.01 * std::sqrt(tolerance))),
      probes(std::min(1e-4, 0.01 * std::sqrt(tolerance))) {}

bool solve_columns(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                   const double* b, const Vector& tolerance, int at_once, double* x) {
  const std::int64_t n = covariance.model().samples();
  const auto columns = static_cast<std::ptrdiff_t>(tolerance.size());
  bool solved = true;
  for (std::ptrdiff_t first = 0; first < columns; first += at_once) {
    const auto last = std::min<std::ptrdiff_t>(first + at_once, columns);
    const Vector part(tolerance.begin() + first, tolerance.begin() + last);
    solved = solve(covariance, preconditioner, static_cast<int>(last - first), b + n * first, part,
                   x + n * first) &&
             solved;
  }
  return solved;
}

Vector kernel_products(const RestrictedModel& model, const double* v) {
  const auto components = static_cast<std::size_t>(model.components());
  Vector products(area(model.samples(), model.components()));
  for (std::size_t g = 0; g < components; ++g) {
    Vector unit(components);
    unit[g] = 1;
    model.kernels.times(unit.data(), v, 1, Precision::kFull,
                        &products[g * static_cast<std::size_t>(model.samples())]);
  }
  return products;
}

std::string unsolved_message() {
  return "conjugate gradients did not reach their residual, as the covariance is nearly singular; "
         "use the exact method";
}

bool add_solution(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                  const SolveTolerances& tolerances, int at_once, Fit& fit) {
  const RestrictedModel& model = covariance.model();
  const auto n = static_cast<std::size_t>(model.samples());
  // y and the columns of SHQ are solved for together.
  const Vector hq = times_basis(covariance);
  Vector b = model.fixed.projected_y();
  b.insert(b.end(), hq.begin(), hq.end());
  // Repeated: the remainder of a column such as an intercept may be pure rounding error, which one
  // projection does not remove.
  for (int time = 0; time < 2; ++time) {
    model.fixed.project(model.workers, model.fixed.effects(), b.data() + n);
  }
  Vector x = fit.residual_projection;
  x.resize(b.size());
  Vector tolerance(b.size() / n, tolerances.probes);
  tolerance[0] = tolerances.response;
  const bool solved =
      solve_columns(covariance, preconditioner, b.data(), tolerance, at_once, x.data());
  fit.coefficients_covariance = effects_covariance(model, hq, b.data() + n, x.data() + n);
  x.resize(n);
  fit.residual_projection = std::move(x);
  const Vector& py = fit.residual_projection;
  fit.genetic = kernel_products(model, py.data());
  Vector rest = model.data.y;  // y - H P y
  for (std::size_t i = 0; i < n; ++i) rest[i] -= covariance.theta().back() * py[i];
  for (std::size_t k = 0; k < fit.genetic.size(); ++k) {
    fit.genetic[k] *= covariance.theta()[k / n];
    rest[k % n] -= fit.genetic[k];
  }
  fit.coefficients = model.fixed.coefficients(model.workers, rest);
  return solved;
}

Fit ended(Fit fit, bool solved, double passes) {
  if (!solved) {
    fit.status = "solves";
    fit.message = unsolved_message();
  }
  fit.converged = fit.status == "converged";
  fit.passes = passes;
  return fit;
}

}  // namespace ancify::reml
