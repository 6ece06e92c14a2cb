// Any number of kernels: H = sum theta_g A_g + theta_e I = L L', and with P = H^-1
//   s_i = (y'P A_i P y - tr(P A_i)) / 2,  AI_ij = (A_i P y)'P (A_j P y) / 2,
//   E_ij = tr(P A_i P A_j) / 2
// (Gilmour, Thompson and Cullis 1995, Biometrics 51, 1440).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/numerics/vectors.h"
#include "core/reml/exact/exact_model.h"
#include "core/reml/fit/steps.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/large_matrices.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// tr(a b) of symmetric n x n matrices, from their lower triangles.
double trace_of_product(std::size_t n, const Vector& a, const Vector& b) {
  double diagonal = 0;
  double below = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double* const left = &a[j * n];
    const double* const right = &b[j * n];
    diagonal += left[j] * right[j];
    below += std::inner_product(left + j + 1, left + n, right + j + 1, 0.0);
  }
  return diagonal + 2 * below;
}

double trace(std::size_t n, const Vector& a) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i * (n + 1)];
  return sum;
}

void at_least(const Vector& lower, Vector& theta) {
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = std::max(theta[i], lower[i]);
}

}  // namespace

CholeskyModel::CholeskyModel(std::vector<std::vector<double>> kernels, const std::vector<double>& y,
                             const std::vector<std::string>& names, const Workers& workers)
    : ExactModel(y), kernels_(std::move(kernels)), workers_(workers) {
  const auto n = static_cast<std::size_t>(size());
  const std::size_t k = kernels_.size() + 1;
  for (std::size_t g = 0; g + 1 < k; ++g) check_positive(workers, size(), kernels_[g], names[g]);
  gram_.resize(k * k);
  for (std::size_t i = 0; i + 1 < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      throw_if_stopped();
      gram_[i * k + j] = gram_[j * k + i] = trace_of_product(n, kernels_[i], kernels_[j]);
    }
    gram_[i * k + k - 1] = gram_[(k - 1) * k + i] = trace(n, kernels_[i]);
  }
  gram_[k * k - 1] = size();
  check_independent(names);
}

void CholeskyModel::throw_if_stopped() const { TaskContext(workers_.control).throw_if_stopped(); }

void CholeskyModel::check_independent(const std::vector<std::string>& names) {
  // The residual comes first, so that it is never found to depend on others.
  const std::size_t k = kernels_.size() + 1;
  Vector shifted(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) shifted[(i + 1) % k * k + (j + 1) % k] = gram_[i * k + j];
  }
  const std::size_t dependent = first_dependent(shifted, k, kDependentKernel);
  if (dependent < k) throw dependent_kernel(names[dependent - 1]);
}

std::vector<double> CholeskyModel::mean_diagonals() const {
  Vector means;
  for (const auto& kernel : kernels_) {
    means.push_back(trace(static_cast<std::size_t>(size()), kernel) / size());
  }
  return means;
}

bool CholeskyModel::move_to(const std::vector<double>& theta) {
  const auto n = static_cast<std::size_t>(size());
  factor_.assign(n * n, 0);
  for (std::size_t g = 0; g < kernels_.size(); ++g) {
    throw_if_stopped();
    if (theta[g] == 0) continue;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i) factor_[j * n + i] += theta[g] * kernels_[g][j * n + i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) factor_[i * (n + 1)] += theta.back();
  if (!factorise(workers_, {size(), factor_.data(), size()})) return false;
  log_determinant_ = 0;
  for (std::size_t i = 0; i < n; ++i) log_determinant_ += 2 * std::log(factor_[i * (n + 1)]);
  py_ = solve(y());
  quadratic_ = dot(y(), py_);
  return std::isfinite(quadratic_) && std::isfinite(log_determinant_);
}

std::vector<double> CholeskyModel::solve(std::vector<double> b) const {
  ancify::reml::solve(workers_, size(), factor_, b);
  return b;
}

std::vector<double> CholeskyModel::inverse() const {
  Vector inverse = factor_;
  invert(workers_, {size(), inverse.data(), size()});
  return inverse;
}

Derivatives CholeskyModel::derivatives(bool expected) {
  const auto n = static_cast<std::size_t>(size());
  const std::size_t k = kernels_.size() + 1;
  Vector p = inverse();
  Derivatives result;
  Vector apy(n * k);  // A_i P y
  for (std::size_t g = 0; g + 1 < k; ++g) {
    throw_if_stopped();
    symmetric_times(workers_, size(), kernels_[g].data(), 1, py_.data(), &apy[g * n]);
    result.traces.push_back(trace_of_product(n, p, kernels_[g]));
  }
  std::copy(py_.begin(), py_.end(), apy.end() - static_cast<std::ptrdiff_t>(n));
  result.traces.push_back(trace(n, p));
  for (std::size_t i = 0; i < k; ++i) {
    const double form = std::inner_product(py_.begin(), py_.end(), &apy[i * n], 0.0);
    result.score.push_back(0.5 * (form - result.traces[i]));
  }
  const Vector papy = solve(apy);
  result.average.resize(k * k);
  cross_product(size(), static_cast<int>(k), static_cast<int>(k), apy.data(), papy.data(),
                result.average.data());
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double both = result.average[i * k + j] + result.average[j * k + i];
      result.average[i * k + j] = result.average[j * k + i] = both / 4;
    }
  }
  if (expected) result.expected = expected_information(p);
  return result;
}

std::vector<double> CholeskyModel::expected_information(const std::vector<double>& inverse) const {
  const auto n = static_cast<std::size_t>(size());
  const std::size_t k = kernels_.size() + 1;
  Vector information(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    // P A_i P.
    Vector both = i + 1 < k ? multiply_symmetric(workers_, size(), kernels_[i], inverse) : inverse;
    both = multiply_symmetric(workers_, size(), inverse, both);
    for (std::size_t j = i; j < k; ++j) {
      const double sum = j + 1 < k ? trace_of_product(n, both, kernels_[j]) : trace(n, both);
      information[i * k + j] = information[j * k + i] = 0.5 * sum;
    }
  }
  return information;
}

std::vector<std::vector<double>> CholeskyModel::starts(const std::vector<double>& lower) {
  const Vector means = mean_diagonals();
  const double variance = dot(y(), y()) / size();
  std::vector<Vector> points = {haseman_elston(lower)};
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    Vector theta;
    for (const double mean : means) {
      theta.push_back(variance * share / (mean * static_cast<double>(means.size())));
    }
    theta.push_back(variance * (1 - share));
    at_least(lower, theta);
    points.push_back(theta);
  }
  return points;
}

// Minimises |yy' - sum theta_i A_i|^2 under the bounds. The residual keeps at least a hundredth of
// the variance, so that a search does not start at the edge (Haseman and Elston 1972, Behavior
// Genetics 2, 3).
std::vector<double> CholeskyModel::haseman_elston(const std::vector<double>& lower) const {
  LocalModel model;
  Vector product(y().size());
  for (const auto& kernel : kernels_) {
    symmetric_times(workers_, size(), kernel.data(), 1, y().data(), product.data());
    model.score.push_back(dot(y(), product));
  }
  const double squares = dot(y(), y());
  model.score.push_back(squares);
  model.information = gram_;
  model.lower = lower;
  model.theta = Vector(lower.size(), 0);
  Vector theta = bounded_step(model, std::numeric_limits<double>::infinity()).theta;
  theta.back() = std::max(theta.back(), 0.01 * squares / size());
  at_least(lower, theta);
  return theta;
}

bool CholeskyModel::search_is_cheap() const { return size() <= 300; }

}  // namespace ancify::reml
