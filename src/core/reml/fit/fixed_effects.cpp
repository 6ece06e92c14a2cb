// An orthonormal basis of the fixed effects, and projections beyond it: S = I - QQ'.
#include "core/reml/fit/fixed_effects.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ancify::reml {

namespace {

const FitData& checked(const FitData& data) {
  check_data(data);
  return data;
}

// |v|, whose square may overflow or underflow.
double length_of(const Workers& workers, std::vector<double> v) {
  double most = 0;
  for (const double value : v) most = std::max(most, std::abs(value));
  if (most == 0) return 0;
  const double unit = std::exp2(std::floor(std::log2(most)));
  for (double& value : v) value /= unit;
  double square = 0;
  column_products(workers, static_cast<std::int64_t>(v.size()), 1, v.data(), v.data(), &square);
  return unit * std::sqrt(square);
}

}  // namespace

FixedEffects::FixedEffects(const FitData& data, const Workers& workers)
    : contrasts_(checked(data)),
      n_(data.samples()),
      p_(static_cast<int>(data.effects())),
      q_(area(n_, p_)),
      y_(data.y) {
  for (int j = 0; j < p_; ++j) q_[static_cast<std::size_t>(j * n_ + j)] = 1;
  if (p_ > 0) q_ = contrasts_.rotate_back(q_);
  project(workers, 1, y_.data());
  const double whole = length_of(workers, data.y);
  const double length = length_of(workers, y_);
  unit_ = response_unit(whole, length, freedom());
  const double left = length * length;
  variance_ = left / static_cast<double>(freedom());
}

void FixedEffects::project(const Workers& workers, int columns, double* v) const {
  std::vector<double> along(area(p_, columns));
  cross_block(workers, n_, p_, columns, q_.data(), v, along.data());
  add_block(workers, n_, p_, columns, -1, q_.data(), along.data(), v);
}

std::vector<double> FixedEffects::orthogonal_probes() const {
  std::vector<double> probes(area(n_, freedom()));
  const double length = std::sqrt(static_cast<double>(freedom()));
  for (std::int64_t k = 0; k < freedom(); ++k) {
    probes[static_cast<std::size_t>(k * n_ + p_ + k)] = length;
  }
  return contrasts_.rotate_back(probes);
}

std::vector<double> FixedEffects::coefficients(const Workers& workers,
                                               const std::vector<double>& v) const {
  std::vector<double> along(static_cast<std::size_t>(p_));
  cross_block(workers, n_, p_, 1, q_.data(), v.data(), along.data());
  return contrasts_.solve(along);
}

std::vector<double> FixedEffects::covariance(std::vector<double> a) const {
  return contrasts_.solve_both_sides(std::move(a));
}

}  // namespace ancify::reml
