// A randomised eigenvalue sketch (Halko, Martinsson and Tropp 2011, SIAM Rev. 53:217): U is an
// orthonormal basis of (S K S)^2 W for random signs W. Outside U only the trace is known:
//   M = d (S - UU') + U (U'HU) U',  M^+ v = v / d + U ((U'HU)^-1 - I / d) U'v.
#include "core/reml/solvers/preconditioner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/solvers/probes.h"

namespace ancify::reml {

namespace {

// Keeps the sketch's random columns apart from all probes.
constexpr std::uint64_t kSketchStream = std::uint64_t{1} << 40;
// Directions below this share of the longest one's squared length are rounding errors.
constexpr double kNoDirection = 1e-10;

// The number of products with the kernels that build U. For relatives, the variance of probes with
// two is two thirds of their variance with one.
constexpr int kPowerSteps = 2;
// The shortest interval of a divided difference, as a share of the mean eigenvalue.
constexpr double kShortestWay = 0.1;

// Symmetrises a matrix whose triangles differ only by rounding errors.
void make_symmetric(int n, std::vector<double>& a) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      double& upper = a[area(n, j) + static_cast<std::size_t>(i)];
      double& lower = a[area(n, i) + static_cast<std::size_t>(j)];
      upper = lower = (upper + lower) / 2;
    }
  }
}

double trace_of(int n, const std::vector<double>& a) {
  double trace = 0;
  for (int j = 0; j < n; ++j) trace += a[area(n + 1, j)];
  return trace;
}

// The products' rounding errors scale with the largest eigenvalue.
void check_eigenvalues(const std::string& name, int n, std::vector<double> a) {
  const std::vector<double> values = symmetric_eigen(n, a.data(), false);
  if (!values.empty()) check_smallest_eigenvalue(values.front(), std::abs(values.back()), name);
}

}  // namespace

Sketch::Sketch(const RestrictedModel& model, const std::vector<double>& weights, int rank,
               std::uint64_t seed)
    : model_(model), rank_(rank) {
  find_basis(weights, seed);
  const std::int64_t n = model.samples();
  std::vector<double> product(u_.size());
  for (int g = 0; g < model.components(); ++g) {
    std::vector<double> unit(static_cast<std::size_t>(model.components()));
    unit[static_cast<std::size_t>(g)] = 1;
    std::vector<double> inner(area(rank_, rank_));
    if (rank_ > 0) {
      model.kernels.times(unit.data(), u_.data(), rank_, Precision::kProbes, product.data());
      cross_block(model.workers, n, rank_, rank_, u_.data(), product.data(), inner.data());
      make_symmetric(rank_, inner);
      check_eigenvalues(model.name(static_cast<std::size_t>(g)), rank_, inner);
    }
    const double left = model.traces[static_cast<std::size_t>(g)] - trace_of(rank_, inner);
    outer_.push_back(rest() > 0 ? std::max(left, 0.0) / static_cast<double>(rest()) : 0);
    inner_.push_back(std::move(inner));
  }
}

void Sketch::find_basis(const std::vector<double>& weights, std::uint64_t seed) {
  const std::int64_t n = model_.samples();
  u_.resize(area(n, rank_));
  fill_signs(model_.workers, seed, kSketchStream, n, rank_, u_.data());
  model_.fixed.project(model_.workers, rank_, u_.data());
  for (int step = 0; step < kPowerSteps && rank_ > 0; ++step) {
    std::vector<double> product(u_.size());
    model_.kernels.times(weights.data(), u_.data(), rank_, Precision::kProbes, product.data());
    u_ = std::move(product);
    model_.fixed.project(model_.workers, rank_, u_.data());
    // Repeated, as one pass leaves errors if columns are nearly dependent.
    orthonormalise();
    orthonormalise();
  }
}

// Replaces U by U V D^-1/2 with U'U = V D V', dropping directions of zero length.
void Sketch::orthonormalise() {
  if (rank_ == 0) return;
  const std::int64_t n = model_.samples();
  std::vector<double> vectors(area(rank_, rank_));
  cross_block(model_.workers, n, rank_, rank_, u_.data(), u_.data(), vectors.data());
  const std::vector<double> values = symmetric_eigen(rank_, vectors.data(), true);
  std::vector<double> kept;
  for (int j = 0; j < rank_; ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    if (!(value > kNoDirection * values.back())) continue;
    const double* const vector = &vectors[area(rank_, j)];
    for (int i = 0; i < rank_; ++i) kept.push_back(vector[i] / std::sqrt(value));
  }
  const int left = static_cast<int>(kept.size()) / rank_;
  std::vector<double> basis(static_cast<std::size_t>(n * left));
  add_block(model_.workers, n, rank_, left, 1, u_.data(), kept.data(), basis.data());
  u_ = std::move(basis);
  rank_ = left;
}

std::vector<double> Sketch::inner_sum(const std::vector<double>& theta) const {
  std::vector<double> sum(area(rank_, rank_));
  for (int j = 0; j < rank_; ++j) sum[area(rank_ + 1, j)] = theta.back();
  for (std::size_t g = 0; g < inner_.size(); ++g) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += theta[g] * inner_[g][k];
  }
  return sum;
}

double Sketch::outer_sum(const std::vector<double>& theta) const {
  double sum = theta.back();
  for (std::size_t g = 0; g < outer_.size(); ++g) sum += theta[g] * outer_[g];
  return sum;
}

Shadows::Shadows(const Sketch& sketch, int columns, const double* v)
    : columns(columns),
      along(area(sketch.rank(), columns)),
      rest(static_cast<std::size_t>(columns)) {
  const RestrictedModel& model = sketch.model();
  cross_block(model.workers, model.samples(), sketch.rank(), columns, sketch.basis().data(), v,
              along.data());
  column_products(model.workers, model.samples(), columns, v, v, rest.data());
  for (int c = 0; c < columns; ++c) {
    const double* const own = along.data() + area(sketch.rank(), c);
    double& left = rest[static_cast<std::size_t>(c)];
    for (int k = 0; k < sketch.rank(); ++k) left -= own[k] * own[k];
    left = sketch.rest() > 0 ? std::max(left, 0.0) : 0;
  }
}

ProductShadows::ProductShadows(const Sketch& sketch, const RestrictedCovariance& covariance,
                               int columns, const double* v, const double* with)
    : along(area(sketch.rank(), columns)), forms(static_cast<std::size_t>(columns)) {
  const RestrictedModel& model = sketch.model();
  const std::int64_t n = model.samples();
  std::vector<double> product(area(n, columns));
  covariance.times(v, columns, Precision::kProbes, product.data());
  cross_block(model.workers, n, sketch.rank(), columns, sketch.basis().data(), product.data(),
              along.data());
  column_products(model.workers, n, columns, with, product.data(), forms.data());
}

Preconditioner::Preconditioner(const Sketch& sketch, const std::vector<double>& theta)
    : sketch_(sketch),
      theta_(theta),
      outer_(sketch.outer_sum(theta)),
      inverse_(sketch.inner_sum(theta)) {
  const int rank = sketch.rank();
  if (!(outer_ > 0) || (rank > 0 && !cholesky(rank, inverse_.data()))) {
    // All kernels passed the sketch's test, so a negative variance is the cause.
    const auto least = std::min_element(theta.begin(), theta.end()) - theta.begin();
    const auto g = static_cast<std::size_t>(least);
    throw variance_too_low(sketch.model(), g, theta[g]);
  }
  if (rank > 0) cholesky_inverse(rank, inverse_.data());
  for (int j = 0; j < rank; ++j) {
    for (int i = 0; i < j; ++i) {
      inverse_[area(rank, j) + static_cast<std::size_t>(i)] =
          inverse_[area(rank, i) + static_cast<std::size_t>(j)];
    }
  }
}

void Preconditioner::solve(const double* v, int columns, double* out) const {
  const RestrictedModel& model = sketch_.model();
  const std::int64_t n = model.samples();
  const int rank = sketch_.rank();
  std::vector<double> along(area(rank, columns));
  std::vector<double> change(along.size());
  cross_block(model.workers, n, rank, columns, sketch_.basis().data(), v, along.data());
  cross_block(model.workers, rank, rank, columns, inverse_.data(), along.data(), change.data());
  for (std::size_t k = 0; k < change.size(); ++k) change[k] -= along[k] / outer_;
  for_chunks(model.workers, n, [&](std::int64_t first, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      const std::int64_t begin = c * n + first;
      for (std::int64_t i = begin; i < begin + size; ++i) out[i] = v[i] / outer_;
    }
  });
  add_block(model.workers, n, rank, columns, 1, sketch_.basis().data(), change.data(), out);
}

std::vector<double> Preconditioner::traces() const {
  const auto rest = static_cast<double>(sketch_.rest());
  std::vector<double> traces;
  for (int g = 0; g < sketch_.model().components(); ++g) {
    const std::vector<double>& inner = sketch_.inner(g);
    double trace = sketch_.outer(g) * rest / outer_;
    for (std::size_t k = 0; k < inner.size(); ++k) trace += inverse_[k] * inner[k];
    traces.push_back(trace);
  }
  traces.push_back(rest / outer_ + trace_of(sketch_.rank(), inverse_));
  return traces;
}

std::vector<double> Preconditioner::quadratic_forms(const Shadows& v) const {
  return quadratic_forms(v.along, v.along, v.rest);
}

std::vector<double> Preconditioner::quadratic_forms(const ProductShadows& hu,
                                                    const Shadows& v) const {
  std::vector<double> rest = hu.forms;
  for (std::size_t k = 0; k < v.along.size(); ++k) {
    rest[k / static_cast<std::size_t>(sketch_.rank())] -= hu.along[k] * v.along[k];
  }
  return quadratic_forms(hu.along, v.along, rest);
}

std::vector<double> Preconditioner::quadratic_forms(const std::vector<double>& u,
                                                    const std::vector<double>& v,
                                                    const std::vector<double>& rest) const {
  const Workers& workers = sketch_.model().workers;
  const int rank = sketch_.rank();
  const int components = sketch_.model().components();
  const int columns = static_cast<int>(rest.size());
  std::vector<double> solved(u.size());
  std::vector<double> product(v.size());
  cross_block(workers, rank, rank, columns, inverse_.data(), u.data(), solved.data());
  std::vector<double> forms(area(components + 1, columns));
  for (int i = 0; i <= components; ++i) {
    const bool residual = i == components;
    double* const out = forms.data() + area(i, columns);
    if (!residual) {
      cross_block(workers, rank, rank, columns, sketch_.inner(i).data(), v.data(), product.data());
    }
    const std::vector<double>& other = residual ? v : product;
    if (rank > 0) column_products(workers, rank, columns, solved.data(), other.data(), out);
    const double outer = residual ? 1 : sketch_.outer(i);
    for (int c = 0; c < columns; ++c) {
      out[c] += outer / outer_ * rest[static_cast<std::size_t>(c)];
    }
  }
  return forms;
}

SketchSpectrum::SketchSpectrum(const Sketch& sketch, const std::vector<double>& theta)
    : sketch_(sketch), outer_(sketch.outer_sum(theta)), vectors_(sketch.inner_sum(theta)) {
  if (sketch.rank() > 0) values_ = symmetric_eigen(sketch.rank(), vectors_.data(), true);
  const double sum = std::accumulate(values_.begin(), values_.end(), 0.0);
  const auto rest = static_cast<double>(sketch.rest());
  mean_ = (sum + rest * outer_) / (static_cast<double>(values_.size()) + rest);
}

SpectralSum SketchSpectrum::trace() const {
  SpectralSum sum = {values_, std::vector<double>(values_.size(), 1)};
  sum.nodes.push_back(outer_);
  sum.weights.push_back(static_cast<double>(sketch_.rest()));
  return sum;
}

std::vector<double> SketchSpectrum::coordinates(const std::vector<double>& along, int c) const {
  const int rank = sketch_.rank();
  const double* const own = along.data() + area(rank, c);
  std::vector<double> result;
  for (int k = 0; k < rank; ++k) {
    const double* const vector = &vectors_[area(rank, k)];
    double product = 0;
    for (int i = 0; i < rank; ++i) product += vector[i] * own[i];
    result.push_back(product);
  }
  return result;
}

SpectralSum SketchSpectrum::form(const Shadows& v, int c) const {
  SpectralSum sum = {values_, coordinates(v.along, c)};
  for (double& weight : sum.weights) weight *= weight;
  sum.nodes.push_back(outer_);
  sum.weights.push_back(v.rest[static_cast<std::size_t>(c)]);
  return sum;
}

// With E = H - M, eigenvalues l_k of M along U, w = v - UU'v, and divided differences f[a, b]:
//   f[d, d] w'Ew + 2 sum_k f[d, l_k] v_k (U'Ew)_k,
// where U'EU = 0. Short intervals of divided differences are lengthened, which keeps the mean 0.
SpectralSum SketchSpectrum::first_order(const Shadows& v, const ProductShadows& hv, int c) const {
  const std::vector<double> own = coordinates(v.along, c);
  const std::vector<double> product = coordinates(hv.along, c);
  const auto at = static_cast<std::size_t>(c);
  const double way = kShortestWay * mean_;
  double form = hv.forms[at] - outer_ * v.rest[at];  // becomes w'Ew
  double at_outer = 0;
  SpectralSum sum;
  for (std::size_t k = 0; k < own.size(); ++k) {
    const double across = own[k] * (product[k] - values_[k] * own[k]);
    form -= own[k] * product[k] + across;
    sum.nodes.push_back(std::max(values_[k], outer_ + way));
    sum.weights.push_back(2 * across / (sum.nodes.back() - outer_));
    at_outer -= sum.weights.back();
  }
  sum.nodes.push_back(outer_);
  sum.weights.push_back(at_outer - form / way);
  sum.nodes.push_back(outer_ + way);
  sum.weights.push_back(form / way);
  return sum;
}

}  // namespace ancify::reml
