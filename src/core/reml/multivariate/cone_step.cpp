// If the Newton step I^-1 s leaves a cone, the alternating direction method of multipliers solves
//   minimise x'Ix / 2 - s'x  subject to  x = z, at + z in the cones
// (Boyd and others 2011, Foundations and Trends in Machine Learning 3, 1). The dimension is small,
// so that thousands of its rounds take milliseconds.
#include "core/reml/multivariate/cone_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numerics/cholesky.h"
#include "core/numerics/symmetric_eigen.h"
#include "core/reml/multivariate/trait_pairs.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// A relative addition to the diagonal, for directions without information.
constexpr double kRidge = 1e-13;
// An eigenvalue this far below its floor is rounding error.
constexpr double kRounding = 1e-14;
constexpr int kMostRounds = 50000;
constexpr int kRoundsBetweenPenalties = 100;
constexpr double kPrecision = 1e-13;

// The step in units in which the diagonal of I is about 1. A block is scaled as D C D, which keeps
// its cone.
class ConeProgramme {
 public:
  explicit ConeProgramme(const ConeModel& model);
  Vector solve();

 private:
  void choose_units();
  Vector unscaled(Vector d) const;
  // A block of `at` + d, less its floor, as a whole matrix.
  Vector block_at(const CovarianceBlock& block, const Vector& d) const;
  bool is_feasible(const Vector& d) const;
  // The nearest step to d that keeps all floors.
  Vector nearest_feasible(Vector d) const;
  Vector solve_by_multipliers() const;

  const ConeModel& model_;
  std::size_t k_;
  Vector units_;
  Vector score_;
  Vector information_;
  Vector weights_;  // of each coordinate in its block's norm; 0 outside blocks
};

ConeProgramme::ConeProgramme(const ConeModel& model) : model_(model), k_(model.at.size()) {
  choose_units();
  score_ = model.score;
  information_ = model.information;
  for (std::size_t j = 0; j < k_; ++j) {
    const bool is_fixed = model.fixed[j] != 0;
    score_[j] = is_fixed ? 0 : score_[j] * units_[j];
    for (std::size_t i = 0; i < k_; ++i) {
      double& value = information_[j * k_ + i];
      value = is_fixed || model.fixed[i] != 0 ? 0 : value * units_[i] * units_[j];
    }
    double& diagonal = information_[j * k_ + j];
    diagonal = is_fixed ? 1 : diagonal + kRidge * (1 + score_[j] * score_[j]);
  }
}

void ConeProgramme::choose_units() {
  const auto root = [&](std::size_t j, double power) {
    const double diagonal = model_.information[j * k_ + j];
    return diagonal > 0 ? std::pow(diagonal, -power) : 1;
  };
  for (std::size_t j = 0; j < k_; ++j) units_.push_back(root(j, 0.5));
  weights_.assign(k_, 0);
  for (const auto& block : model_.blocks) {
    const auto pairs = trait_pairs(block.size);
    Vector scales(block.size);
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      if (pairs[j].same()) scales[pairs[j].row] = root(block.first + j, 0.25);
    }
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      units_[block.first + j] = scales[pairs[j].row] * scales[pairs[j].column];
      weights_[block.first + j] = pairs[j].same() ? 1 : 2;
    }
  }
}

Vector ConeProgramme::unscaled(Vector d) const {
  for (std::size_t j = 0; j < k_; ++j) d[j] *= units_[j];
  return d;
}

Vector ConeProgramme::block_at(const CovarianceBlock& block, const Vector& d) const {
  const auto pairs = trait_pairs(block.size);
  Vector values(pairs.size());
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const std::size_t at = block.first + j;
    const double floor = pairs[j].same() ? block.floor : 0;
    values[j] = (model_.at[at] - floor) / units_[at] + d[at];
  }
  return unpacked(block.size, values.data());
}

bool ConeProgramme::is_feasible(const Vector& d) const {
  return std::all_of(model_.blocks.begin(), model_.blocks.end(), [&](const auto& block) {
    const Vector values = symmetric_eigenpairs(block.size, block_at(block, d)).values;
    return values.back() >= -kRounding * std::abs(values.front());
  });
}

Vector ConeProgramme::nearest_feasible(Vector d) const {
  for (const auto& block : model_.blocks) {
    const std::size_t t = block.size;
    const Eigenpairs pairs = symmetric_eigenpairs(t, block_at(block, d));
    Vector projected(t * t);
    for (std::size_t v = 0; v < t; ++v) {
      const double value = std::max(pairs.values[v], 0.0);
      const double* const vector = &pairs.vectors[v * t];
      for (std::size_t j = 0; j < t * t; ++j) {
        projected[j] += value * vector[j / t] * vector[j % t];
      }
    }
    const Vector at = packed(t, block_at(block, Vector(k_, 0)));
    const Vector whole = packed(t, projected);
    for (std::size_t j = 0; j < at.size(); ++j) d[block.first + j] = whole[j] - at[j];
  }
  return d;
}

Vector ConeProgramme::solve_by_multipliers() const {
  double penalty = 1;
  const auto factor_with = [&](double with) {
    Vector matrix = information_;
    for (std::size_t j = 0; j < k_; ++j) matrix[j * k_ + j] += with * weights_[j];
    return CholeskyFactor(k_, std::move(matrix));
  };
  CholeskyFactor factor = factor_with(penalty);
  Vector x;
  Vector z(k_, 0);
  Vector multipliers(k_, 0);
  for (int round = 1; round <= kMostRounds; ++round) {
    x = score_;
    for (std::size_t j = 0; j < k_; ++j) x[j] += penalty * weights_[j] * (z[j] - multipliers[j]);
    factor.solve(x);
    Vector sum = x;
    for (std::size_t j = 0; j < k_; ++j) sum[j] += multipliers[j];
    Vector next = nearest_feasible(std::move(sum));
    double gap = 0;
    double move = 0;
    for (std::size_t j = 0; j < k_; ++j) {
      if (weights_[j] == 0) continue;
      multipliers[j] += x[j] - next[j];
      gap = std::max(gap, std::abs(x[j] - next[j]));
      move = std::max(move, penalty * std::abs(next[j] - z[j]));
    }
    z = std::move(next);
    if (gap < kPrecision && move < kPrecision) break;
    const double ratio = gap > 10 * move ? 3 : (move > 10 * gap ? 1.0 / 3 : 1);
    if (round % kRoundsBetweenPenalties == 0 && ratio != 1) {
      penalty *= ratio;
      for (double& value : multipliers) value /= ratio;
      factor = factor_with(penalty);
    }
  }
  for (std::size_t j = 0; j < k_; ++j) {
    if (weights_[j] == 0) z[j] = x[j];
    if (model_.fixed[j] != 0) z[j] = 0;
  }
  return z;
}

Vector ConeProgramme::solve() {
  Vector newton = score_;
  CholeskyFactor(k_, information_).solve(newton);
  return unscaled(is_feasible(newton) ? newton : solve_by_multipliers());
}

}  // namespace

std::vector<double> cone_step(const ConeModel& model) { return ConeProgramme(model).solve(); }

double squared_length(const ConeModel& model, const std::vector<double>& d) {
  const std::size_t k = d.size();
  double sum = 0;
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < k; ++i) sum += d[i] * model.information[j * k + i] * d[j];
  }
  return sum;
}

}  // namespace ancify::reml
