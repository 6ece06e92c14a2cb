//   s_i = 1/2 [y'P A_i P y - tr(P A_i)],  AI_ij = 1/2 (A_i P y)'P (A_j P y)
// (Gilmour, Thompson and Cullis 1995, Biometrics 51:1440), whose forms of y come from A_i P y.
#include "core/reml/stochastic/probe_point.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/reml/kernels/kernel_checks.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

}  // namespace

ProbePoint PointSolver::at(const Vector& theta, const Sketch& sketch, const Probes& probes,
                           int number, int count, double tolerance, const ProbePoint& start) {
  const std::int64_t n = model_.samples();
  const RestrictedCovariance covariance(model_, theta);
  const Preconditioner preconditioner(sketch, theta);
  ProbePoint point;
  point.theta = theta;
  point.known = preconditioner.traces();
  point.solutions = start.solutions;
  point.solutions.resize(static_cast<std::size_t>(n * (1 + count)));
  // The response is solved for together with the first probes.
  ProbeValues all(2 * theta.size());
  for (int first = -1; first < count; first += settings_.columns) {
    const int columns = std::min(settings_.columns, count - first);
    const int of_response = first < 0 ? 1 : 0;
    Vector b(area(n, columns));
    Vector tolerances(static_cast<std::size_t>(columns), tolerances_.probes);
    if (of_response == 1) {
      std::copy(model_.fixed.projected_y().begin(), model_.fixed.projected_y().end(), b.begin());
      tolerances[0] = tolerance;
    }
    probes.fill(model_.workers, number + first + of_response, columns - of_response,
                b.data() + of_response * n);
    double* const x = point.solutions.data() + (1 + first) * n;
    solved_ = solve(covariance, preconditioner, columns, b.data(), tolerances, x) && solved_;
    const ProbeValues values =
        trace_values(sketch, covariance, preconditioner, columns - of_response,
                     b.data() + of_response * n, x + of_response * n);
    all.add(values.values());
  }
  point.values = all.values();
  add_response(covariance, preconditioner, tolerance, point);
  return point;
}

ProbeValues PointSolver::values(const Vector& theta, const Sketch& sketch, const Probes& probes,
                                int first, int count) {
  const RestrictedCovariance covariance(model_, theta);
  const Preconditioner preconditioner(sketch, theta);
  Vector z(area(model_.samples(), count));
  Vector x(z.size());
  probes.fill(model_.workers, first, count, z.data());
  const Vector tolerance(static_cast<std::size_t>(count), tolerances_.probes);
  solved_ = solve(covariance, preconditioner, count, z.data(), tolerance, x.data()) && solved_;
  return trace_values(sketch, covariance, preconditioner, count, z.data(), x.data());
}

// Forms and information from P y.
void PointSolver::add_response(const RestrictedCovariance& covariance,
                               const Preconditioner& preconditioner, double tolerance,
                               ProbePoint& point) {
  const std::int64_t n = model_.samples();
  const int k = model_.components() + 1;
  const double* const py = point.solutions.data();
  Vector columns = kernel_products(model_, py);  // A_i P y
  columns.insert(columns.end(), py, py + n);
  point.forms.resize(static_cast<std::size_t>(k));
  cross_block(model_.workers, n, k, 1, columns.data(), py, point.forms.data());
  for (int g = 0; g + 1 < k; ++g) {
    const auto i = static_cast<std::size_t>(g);
    check_smallest_eigenvalue(point.forms[i] / point.forms.back(), model_.kernels.mean_diagonal(g),
                              model_.name(i));
  }
  model_.fixed.project(model_.workers, k, columns.data());
  Vector x(columns.size());
  solved_ =
      solve_columns(covariance, preconditioner, columns.data(),
                    Vector(static_cast<std::size_t>(k), tolerance), settings_.columns, x.data()) &&
      solved_;
  Vector products(area(k, k));
  cross_block(model_.workers, n, k, k, columns.data(), x.data(), products.data());
  point.information = products;
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < k; ++i) {
      const double both = products[area(k, j) + static_cast<std::size_t>(i)] +
                          products[area(k, i) + static_cast<std::size_t>(j)];
      point.information[area(k, j) + static_cast<std::size_t>(i)] = both / 4;
    }
  }
}

LikelihoodPoint stochastic_point(const FitData& data, Kernels& kernels,
                                 const StochasticSettings& settings, const Vector& theta,
                                 const Workers& workers) {
  const FixedEffects fixed(data, workers);
  const RestrictedModel model(data, kernels, fixed, workers);
  const ProbePlan plan(model, settings, false);
  const int count = plan.takes_all() ? plan.most() : settings.probes;
  Vector weights(theta.begin(), theta.end() - 1);
  if (*std::max_element(weights.begin(), weights.end()) <= 0) weights.assign(weights.size(), 1);
  PointSolver solver(model, settings);
  const ProbePoint at = solver.at(theta, choose_sketch(model, weights, settings), plan.probes(), 0,
                                  count, SolveTolerances(settings.search.tolerance).response, {});
  if (!solver.solved()) throw InputError(unsolved_message());
  const ProbeValues values(2 * theta.size(), at.values);
  const double share = best_share(values, trace_units(at.information));
  LikelihoodPoint point;
  point.score = less_first_order(values, share).mean();
  for (std::size_t i = 0; i < theta.size(); ++i) {
    point.score[i] = (at.forms[i] - at.known[i] - point.score[i]) / 2;
  }
  point.information = at.information;
  point.residual_projection.assign(at.solutions.begin(), at.solutions.begin() + data.samples());
  return point;
}

}  // namespace ancify::reml
