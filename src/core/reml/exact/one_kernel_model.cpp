// One kernel and the residual: A = Q T Q' with a tridiagonal T, and theta T + theta_e I = L D L'.
// So
//   log|H| = sum log(d_i),  P b = Q (L D L')^-1 Q'b,  z_i = 1 / d_i + l_i^2 z_(i+1),
// where z is the diagonal of (L D L')^-1, and -l_i z_(i+1) its off-diagonal (Takahashi and others
// 1973). Everything takes O(N). (With eigenvalues instead: Patterson and Thompson 1971, Biometrika
// 58, 545; Kang and others 2008, Genetics 178, 1709.)
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
#include "core/reml/kernels/kernel_checks.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// Shares of variance h, denser towards both ends of (from, to).
Vector shares_between(double from, double to) {
  constexpr double kEnd = 14;  // leaves 1e-6 of the range
  constexpr int kPoints = 113;
  Vector shares;
  for (int i = 0; i < kPoints; ++i) {
    const double t = kEnd * (2.0 * i / (kPoints - 1) - 1);
    shares.push_back(from + (to - from) / (1 + std::exp(-t)));
  }
  return shares;
}

}  // namespace

double ExactModel::log_likelihood() const {
  return -0.5 * (size() * kLogTwoPi + log_determinant() + quadratic());
}

OneKernelModel::OneKernelModel(std::vector<double> kernel, const std::vector<double>& y,
                               const std::string& name, const Workers& workers)
    : ExactModel(y),
      kernel_(std::move(kernel)),
      form_(workers, size(), kernel_.data()),
      rotated_y_(y) {
  const Vector& diagonal = form_.diagonal();
  const double sum = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
  const double squares =
      dot(diagonal, diagonal) + 2 * dot(form_.off_diagonal(), form_.off_diagonal());
  mean_ = sum / size();
  // This factor exists only if no eigenvalue is below the limit. Eigenvalues would take a fifth of
  // the tridiagonalisation's time.
  if (!factorise({1, kNegativeEigenvalue * mean_})) {
    check_smallest_eigenvalue(form_.eigenvalues().front(), mean_, name);
  }
  if (squares - sum * mean_ <= kDependentKernel * squares) throw dependent_kernel(name);
  form_.rotate(true, 1, rotated_y_.data());
}

// Computes L and D. Returns false if a pivot is not positive.
bool OneKernelModel::factorise(const std::vector<double>& theta) {
  const Vector& diagonal = form_.diagonal();
  pivots_.clear();
  ratios_.clear();
  double pivot = theta[0] * diagonal[0] + theta[1];
  for (std::size_t i = 0; pivot > 0; ++i) {
    pivots_.push_back(pivot);
    if (i + 1 == diagonal.size()) return true;
    const double off = theta[0] * form_.off_diagonal()[i];
    ratios_.push_back(off / pivot);
    pivot = theta[0] * diagonal[i + 1] + theta[1] - off * ratios_.back();
  }
  return false;
}

bool OneKernelModel::move_to(const std::vector<double>& theta) {
  theta_ = theta;
  if (!factorise(theta)) return false;
  log_determinant_ = 0;
  for (const double pivot : pivots_) log_determinant_ += std::log(pivot);
  py_ = rotated_y_;
  solve_tridiagonal(py_);
  quadratic_ = dot(rotated_y_, py_);
  return std::isfinite(quadratic_) && std::isfinite(log_determinant_);
}

void OneKernelModel::solve_tridiagonal(std::vector<double>& b) const {
  const std::size_t n = pivots_.size();
  for (std::size_t i = 1; i < n; ++i) b[i] -= ratios_[i - 1] * b[i - 1];
  for (std::size_t i = 0; i < n; ++i) b[i] /= pivots_[i];
  for (std::size_t i = n - 1; i-- > 0;) b[i] -= ratios_[i] * b[i + 1];
}

std::vector<double> OneKernelModel::kernel_times(const std::vector<double>& b) const {
  const Vector& diagonal = form_.diagonal();
  const Vector& off = form_.off_diagonal();
  Vector result(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    result[i] = diagonal[i] * b[i];
    if (i > 0) result[i] += off[i - 1] * b[i - 1];
    if (i + 1 < b.size()) result[i] += off[i] * b[i + 1];
  }
  return result;
}

// tr(P A P A) and tr(P A P) are minus the derivatives of tr(P A) and tr(P) with respect to theta.
OneKernelModel::Traces OneKernelModel::traces() const {
  const Vector& a = form_.diagonal();
  const Vector& b = form_.off_diagonal();
  const std::size_t n = pivots_.size();
  // Derivatives with respect to theta
  Vector pivot_slopes = {a[0]};
  Vector ratio_slopes;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double ratio = ratios_[i];
    ratio_slopes.push_back((b[i] - ratio * pivot_slopes[i]) / pivots_[i]);
    pivot_slopes.push_back(a[i + 1] - 2 * b[i] * ratio + ratio * ratio * pivot_slopes[i]);
  }
  ratio_slopes.push_back(0);
  Traces sums;
  Vector z(n + 1);
  double slope = 0;  // of z
  for (std::size_t i = n; i-- > 0;) {
    const double next = z[i + 1];
    const double ratio = i + 1 < n ? ratios_[i] : 0;
    const double ratio_slope = ratio_slopes[i];
    sums.pa -= 2 * b[i] * ratio * next;
    sums.papa += 2 * b[i] * (ratio_slope * next + ratio * slope);
    z[i] = 1 / pivots_[i] + ratio * ratio * next;
    slope = -pivot_slopes[i] / (pivots_[i] * pivots_[i]) + 2 * ratio * ratio_slope * next +
            ratio * ratio * slope;
    sums.p += z[i];
    sums.pa += a[i] * z[i];
    sums.pap -= slope;
    sums.papa -= a[i] * slope;
  }
  double above = 0;  // squares of a column above the diagonal, over the diagonal's square
  for (std::size_t i = 0; i < n; ++i) {
    sums.pp += z[i] * z[i] * (1 + 2 * above);
    if (i + 1 < n) above = ratios_[i] * ratios_[i] * (1 + above);
  }
  return sums;
}

Derivatives OneKernelModel::derivatives(bool expected) {
  const Vector a = kernel_times(py_);
  Vector pa = a;
  solve_tridiagonal(pa);
  Vector ppy = py_;
  solve_tridiagonal(ppy);
  const Traces sums = traces();
  Derivatives result;
  result.traces = {sums.pa, sums.p};
  result.score = {0.5 * (dot(py_, a) - result.traces[0]), 0.5 * (dot(py_, py_) - result.traces[1])};
  const double mixed = 0.5 * dot(a, ppy);
  result.average = {0.5 * dot(a, pa), mixed, mixed, 0.5 * dot(py_, ppy)};
  if (expected) result.expected = {0.5 * sums.papa, 0.5 * sums.pap, 0.5 * sums.pap, 0.5 * sums.pp};
  return result;
}

std::vector<double> OneKernelModel::solve(std::vector<double> b) const {
  const std::size_t n = pivots_.size();
  const auto columns = static_cast<int>(b.size() / n);
  form_.rotate(true, columns, b.data());
  for (auto column = b.begin(); column != b.end(); column += static_cast<std::ptrdiff_t>(n)) {
    Vector values(column, column + static_cast<std::ptrdiff_t>(n));
    solve_tridiagonal(values);
    std::copy(values.begin(), values.end(), column);
  }
  form_.rotate(false, columns, b.data());
  return b;
}

// With H = s (h A / mean + (1 - h) I), the best s is known for each h. All local maxima over a grid
// of h are starts, so the global one is among them.
std::vector<std::vector<double>> OneKernelModel::starts(const std::vector<double>& lower) {
  // H is positive definite between these shares.
  double from = 0;
  double to = 1;
  if (lower[0] < 0 || lower[1] < 0) {
    const Vector eigenvalues = form_.eigenvalues();
    if (lower[0] < 0) from = -1 / (eigenvalues.back() / mean_ - 1);
    if (lower[1] < 0) to = 1 / (1 - eigenvalues.front() / mean_);
  }
  Vector shares = shares_between(from, to);
  if (lower[0] >= 0) shares.insert(shares.begin(), 0.0);
  std::vector<Vector> points;
  Vector heights = {-std::numeric_limits<double>::infinity()};
  for (const double h : shares) {
    Vector theta = {h / mean_, 1 - h};
    if (!move_to(theta)) continue;
    const double s = quadratic_ / size();
    heights.push_back(-0.5 * (log_determinant_ + size() * std::log(s)));
    points.push_back({std::max(s * theta[0], lower[0]), std::max(s * theta[1], lower[1])});
  }
  heights.push_back(heights.front());
  std::vector<Vector> peaks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (heights[i + 1] >= heights[i] && heights[i + 1] > heights[i + 2]) {
      peaks.push_back(points[i]);
    }
  }
  return peaks;
}

}  // namespace ancify::reml
