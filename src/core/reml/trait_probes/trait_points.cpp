// On the complement, with A~_i equal to A_i but for the mean eigenvalue in place of each K_g,
//   P A_i ~ a A_i + b H A~_i + c A~_i,
// where a, b and c come from a regression over the probes. The trace of the right side is known: H
// and A_i are sums of products with the kernels, and A~_i has only the small blocks of samples, so
// their product's trace needs diagonals alone.
#include "core/reml/trait_probes/trait_points.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/numerics/cholesky.h"
#include "core/reml/stochastic/solution.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

constexpr double kRidgeOfVariates = 1e-9;

}  // namespace

TraitPoints::TraitPoints(const RestrictedModel& model, TraitKernels& kernels, const Sketch& sketch,
                         const Probes& probes, const StochasticSettings& settings)
    : model_(model),
      kernels_(kernels),
      sketch_(sketch),
      probes_(probes),
      settings_(settings),
      traces_(kernels.by_covariance(model.traces.data(), 1)) {
  // The residual's A_i is A~_i, and the other components' are multiples of it.
  const std::size_t m = kernels.pairs().size();
  const std::size_t residual = traces_.size() - m;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    mean_traces_.push_back(kernels.mean(i / m) * traces_[residual + i % m]);
  }
}

// tr(S H A~_i S).
Vector TraitPoints::product_traces(const Vector& theta) const {
  Vector traces = kernels_.mean_traces(theta);
  const Vector& q = model_.fixed.basis();
  const int p = model_.fixed.effects();
  if (p == 0) return traces;
  Vector hq(q.size());
  kernels_.times(kernels_.weights_of(theta).data(), q.data(), p, Precision::kFull, hq.data());
  const Vector less = kernels_.mean_forms(hq.data(), q.data(), p);
  for (std::size_t k = 0; k < less.size(); ++k) traces[k / static_cast<std::size_t>(p)] -= less[k];
  return traces;
}

ProbeValues TraitPoints::values_of(const Vector& theta, int columns, const double* z,
                                   const double* x) const {
  const std::size_t k = theta.size();
  ProbeValues values((1 + kVariates) * k);
  if (columns == 0) return values;
  Vector by_kernel(area(kernels_.components(), columns));
  const auto forms_of = [&](const double* left) {
    kernels_.quadratic_forms(left, z, columns, Precision::kProbes, by_kernel.data());
    return kernels_.by_covariance(by_kernel.data(), columns);
  };
  const Vector solved = forms_of(x);
  const Vector plain = forms_of(z);
  Vector hz(area(kernels_.samples(), columns));
  kernels_.times(kernels_.weights_of(theta).data(), z, columns, Precision::kProbes, hz.data());
  const Vector product = kernels_.mean_forms(hz.data(), z, columns);
  const Vector mean = kernels_.mean_forms(z, z, columns);
  const Vector of_product = product_traces(theta);
  Vector of_probe((1 + kVariates) * k);
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t at = i * static_cast<std::size_t>(columns) + c;
      of_probe[i] = solved[at];
      of_probe[k + i] = plain[at] - traces_[i];
      of_probe[2 * k + i] = product[at] - of_product[i];
      of_probe[3 * k + i] = mean[at] - mean_traces_[i];
    }
    values.add(of_probe);
  }
  return values;
}

TraitPoint TraitPoints::at(const Vector& theta, int count, double tolerance,
                           const TraitPoint& start) {
  const std::int64_t n = model_.samples();
  const Vector weights = kernels_.weights_of(theta);
  const RestrictedCovariance covariance(model_, weights);
  const Preconditioner preconditioner(sketch_, weights);
  const SolveTolerances tolerances(settings_.search.tolerance);
  TraitPoint point;
  point.theta = theta;
  point.solutions = start.solutions;
  point.solutions.resize(area(n, 1 + count));
  // The response is solved for together with the first probes.
  ProbeValues all((1 + kVariates) * theta.size());
  for (int first = -1; first < count; first += settings_.columns) {
    const int columns = std::min(settings_.columns, count - first);
    const int of_response = first < 0 ? 1 : 0;
    Vector b(area(n, columns));
    Vector wanted(static_cast<std::size_t>(columns), tolerances.probes);
    if (of_response == 1) {
      std::copy(model_.fixed.projected_y().begin(), model_.fixed.projected_y().end(), b.begin());
      wanted[0] = tolerance;
    }
    double* const z = b.data() + of_response * n;
    probes_.fill(model_.workers, first + of_response, columns - of_response, z);
    double* const x = point.solutions.data() + (1 + first) * n;
    solved_ = solve(covariance, preconditioner, columns, b.data(), wanted, x) && solved_;
    all.add(values_of(theta, columns - of_response, z, x + of_response * n).values());
  }
  point.values = all.values();
  add_response(covariance, preconditioner, point);
  return point;
}

ProbeValues TraitPoints::values(const Vector& theta, int first, int count) {
  const Vector weights = kernels_.weights_of(theta);
  const RestrictedCovariance covariance(model_, weights);
  const Preconditioner preconditioner(sketch_, weights);
  Vector z(area(model_.samples(), count));
  Vector x(z.size());
  probes_.fill(model_.workers, first, count, z.data());
  const Vector tolerance(static_cast<std::size_t>(count),
                         SolveTolerances(settings_.search.tolerance).probes);
  solved_ = solve(covariance, preconditioner, count, z.data(), tolerance, x.data()) && solved_;
  return values_of(theta, count, z.data(), x.data());
}

// Forms and information from P y.
void TraitPoints::add_response(const RestrictedCovariance& covariance,
                               const Preconditioner& preconditioner, TraitPoint& point) {
  const std::int64_t n = model_.samples();
  const int k = kernels_.components();
  const double* const py = point.solutions.data();
  Vector columns = kernels_.derivatives_times(py);
  point.forms.resize(static_cast<std::size_t>(k));
  cross_block(model_.workers, n, k, 1, columns.data(), py, point.forms.data());
  model_.fixed.project(model_.workers, k, columns.data());
  Vector x(columns.size());
  const Vector wanted(static_cast<std::size_t>(k),
                      SolveTolerances(settings_.search.tolerance).probes);
  solved_ = solve_columns(covariance, preconditioner, columns.data(), wanted, settings_.columns,
                          x.data()) &&
            solved_;
  Vector products(area(k, k));
  cross_block(model_.workers, n, k, k, columns.data(), x.data(), products.data());
  point.information.resize(products.size());
  const auto width = static_cast<std::size_t>(k);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t i = 0; i < width; ++i) {
      point.information[j * width + i] = (products[j * width + i] + products[i * width + j]) / 4;
    }
  }
}

Vector variate_factors(const ProbeValues& values, std::size_t pairs, const Vector& units) {
  constexpr std::size_t kWidth = TraitPoints::kVariates;
  const std::size_t k = units.size();
  Vector factors(kWidth * k / pairs);
  if (values.probes() < 2 * static_cast<int>(kWidth)) return factors;
  const Vector covariance = values.covariance_of_mean();
  const auto between = [&](std::size_t u, std::size_t v, std::size_t i) {
    return units[i] * units[i] * covariance[(u * k + i) * values.components() + v * k + i];
  };
  for (std::size_t g = 0; g < k / pairs; ++g) {
    Vector matrix(kWidth * kWidth);
    Vector solution(kWidth);
    for (std::size_t i = g * pairs; i < (g + 1) * pairs; ++i) {
      for (std::size_t u = 0; u < kWidth; ++u) {
        solution[u] += between(u + 1, 0, i);
        for (std::size_t v = 0; v < kWidth; ++v) matrix[u * kWidth + v] += between(u + 1, v + 1, i);
      }
    }
    // The residual's first and last variates are equal.
    for (std::size_t u = 0; u < kWidth; ++u) matrix[u * (kWidth + 1)] *= 1 + kRidgeOfVariates;
    CholeskyFactor(kWidth, std::move(matrix)).solve(solution);
    std::copy(solution.begin(), solution.end(), &factors[g * kWidth]);
  }
  return factors;
}

ProbeValues less_variates(const ProbeValues& values, std::size_t pairs, const Vector& factors) {
  constexpr std::size_t kWidth = TraitPoints::kVariates;
  const std::size_t k = values.components() / (1 + kWidth);
  ProbeValues both(2 * k);
  Vector of_probe(2 * k);
  for (auto at = values.values().begin(); at != values.values().end(); at += (1 + kWidth) * k) {
    for (std::size_t i = 0; i < k; ++i) {
      of_probe[i] = at[i];
      of_probe[k + i] = 0;
      for (std::size_t u = 0; u < kWidth; ++u) {
        of_probe[k + i] += factors[i / pairs * kWidth + u] * at[(u + 1) * k + i];
      }
    }
    both.add(of_probe);
  }
  return less_first_order(both, 1);
}

}  // namespace ancify::reml
