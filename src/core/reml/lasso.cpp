// Coordinate descent over the effects that are not 0, to which those join that violate their
// condition (Friedman, Hastie and Tibshirani 2010, J. Stat. Softw. 33:1). Among variants that are
// nearly alike it takes many cycles, so now and then the equations of the effects with their signs
// are solved, and the step ends where the first of them changes its sign. Each step lowers the sum.
#include "core/reml/lasso.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/exec/errors.h"
#include "core/reml/lapack.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

constexpr int kCyclesBetweenSolves = 50;
constexpr int kMostDescents = 100000;

double sign(double x) { return x > 0 ? 1 : -1; }

// The lasso of some effects, by dense copies of their parts of Q and q.
class SmallLasso {
 public:
  SmallLasso(const SymmetricColumns& q_matrix, const Vector& q, const std::vector<std::size_t>& of,
             double lambda, const Vector& b)
      : size_(of.size()), lambda_(lambda) {
    for (const std::size_t j : of) {
      b_.push_back(b[j]);
      q_.push_back(q[j]);
      for (const std::size_t i : of) matrix_.push_back(q_matrix[j][i]);
    }
    find_slopes();
  }

  const Vector& effects() const { return b_; }

  double violation() const {
    double worst = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      worst = std::max(worst, lasso_violation(b_[j], slopes_[j], lambda_));
    }
    return worst;
  }

  // Minimises over an effect after the other.
  void cycle() {
    for (std::size_t j = 0; j < size_; ++j) {
      const double square = matrix_[j * size_ + j];
      const double alone = slopes_[j] + square * b_[j];
      const double left = std::abs(alone) - lambda_;
      move(j, (left > 0 ? sign(alone) * left / square : 0) - b_[j]);
    }
  }

  // Goes towards the minimum of the effects that are not 0 with their signs.
  void solve_signs() {
    std::vector<std::size_t> of;
    for (std::size_t j = 0; j < size_; ++j) {
      if (b_[j] != 0) of.push_back(j);
    }
    const int n = static_cast<int>(of.size());
    if (n == 0) return;
    Vector factor;
    Vector goal;
    for (const std::size_t j : of) {
      goal.push_back(q_[j] - lambda_ * sign(b_[j]));
      for (const std::size_t i : of) factor.push_back(matrix_[j * size_ + i]);
    }
    if (!cholesky(n, {factor.data(), n})) return;
    cholesky_solve(n, 1, {factor.data(), n}, {goal.data(), n});
    double step = 1;
    std::size_t first = of.size();
    for (std::size_t k = 0; k < of.size(); ++k) {
      const double from = b_[of[k]];
      if (goal[k] * from > 0) continue;
      const double here = from / (from - goal[k]);
      if (here >= step) continue;
      step = here;
      first = k;
    }
    for (std::size_t k = 0; k < of.size(); ++k) b_[of[k]] += step * (goal[k] - b_[of[k]]);
    if (first < of.size()) b_[of[first]] = 0;
    find_slopes();
  }

 private:
  void move(std::size_t j, double change) {
    if (change == 0) return;
    b_[j] += change;
    const double* const column = &matrix_[j * size_];
    for (std::size_t i = 0; i < size_; ++i) slopes_[i] -= change * column[i];
  }

  void find_slopes() {
    slopes_ = q_;
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t i = 0; b_[j] != 0 && i < size_; ++i) {
        slopes_[i] -= b_[j] * matrix_[j * size_ + i];
      }
    }
  }

  std::size_t size_;
  double lambda_;
  Vector b_;
  Vector q_;
  Vector matrix_;
  Vector slopes_;
};

Vector slopes_at(const SymmetricColumns& q_matrix, const Vector& q, const Vector& b) {
  Vector slopes = q;
  for (std::size_t j = 0; j < b.size(); ++j) {
    for (std::size_t i = 0; b[j] != 0 && i < b.size(); ++i) slopes[i] -= b[j] * q_matrix[j][i];
  }
  return slopes;
}

}  // namespace

double lasso_violation(double b, double slope, double lambda) {
  return b == 0 ? std::max(std::abs(slope) - lambda, 0.0) : std::abs(slope - lambda * sign(b));
}

void minimise_lasso(const SymmetricColumns& q_matrix, const Vector& q, double lambda,
                    double tolerance, const std::function<void()>& between, Vector& b) {
  for (int round = 0; round < kMostDescents; ++round) {
    const Vector slopes = slopes_at(q_matrix, q, b);
    std::vector<std::size_t> active;
    double worst = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const double violation = lasso_violation(b[j], slopes[j], lambda);
      worst = std::max(worst, violation);
      if (b[j] != 0 || violation > tolerance) active.push_back(j);
    }
    if (worst <= tolerance) return;
    SmallLasso small(q_matrix, q, active, lambda, b);
    // Slopes that are updated round off, so the last word is that of new ones.
    for (int cycle = 1; cycle <= 200 && small.violation() > tolerance / 2; ++cycle) {
      between();
      small.cycle();
      if (cycle % kCyclesBetweenSolves == 0) small.solve_signs();
    }
    for (std::size_t k = 0; k < active.size(); ++k) b[active[k]] = small.effects()[k];
  }
  throw InputError("the lasso did not converge");
}

}  // namespace ancify::reml
