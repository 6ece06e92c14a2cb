// The path of the minimum is piecewise linear (Osborne, Presnell and Turlach 2000, IMA J. Numer.
// Anal. 20:389): the nonzero effects b, with signs s, fall by Q^-1 s while lambda rises by 1. At an
// event, the factor of their part of Q gains a row, or loses one by rotations, so an event costs a
// product with Q.
//
// minimise_lasso() uses coordinate descent over the nonzero effects, and adds effects that violate
// their condition (Friedman, Hastie and Tibshirani 2010, J. Stat. Softw. 33:1). Nearly identical
// variants need many cycles. So the equations for fixed signs are solved from time to time, and
// such a step ends where the first effect changes sign. Each step lowers the objective.
#include "core/reml/linear_algebra/lasso.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/linear_algebra/lapack.h"

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

  // Minimises over one effect after another.
  void cycle() {
    for (std::size_t j = 0; j < size_; ++j) {
      const double square = matrix_[j * size_ + j];
      const double alone = slopes_[j] + square * b_[j];
      const double left = std::abs(alone) - lambda_;
      move(j, (left > 0 ? sign(alone) * left / square : 0) - b_[j]);
    }
  }

  // Moves towards the minimum over the nonzero effects with fixed signs.
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
    if (!cholesky(n, factor.data())) return;
    cholesky_solve(n, 1, factor.data(), goal.data());
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

// A pivot below this share of the diagonal element is a rounding error.
constexpr double kDependentEffect = 1e-9;
// A path stops after this many events per effect.
constexpr std::size_t kMostEvents = 4;

// L^-1 b, with L stored by rows.
Vector forward(const std::vector<Vector>& factor, Vector b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Vector& row = factor[i];
    double sum = b[i];
    for (std::size_t k = 0; k < i; ++k) sum -= row[k] * b[k];
    b[i] = sum / row[i];
  }
  return b;
}

// L'^-1 b.
Vector backward(const std::vector<Vector>& factor, Vector b) {
  for (std::size_t i = b.size(); i-- > 0;) {
    const Vector& row = factor[i];
    b[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) b[k] -= row[k] * b[i];
  }
  return b;
}

// Downdates the factor for the removal of row `gone`. Each later row then has an element beyond the
// diagonal, which a rotation with the preceding column removes.
void remove_row(std::vector<Vector>& factor, std::size_t gone) {
  factor.erase(factor.begin() + static_cast<std::ptrdiff_t>(gone));
  for (std::size_t i = gone; i < factor.size(); ++i) {
    const double length = std::hypot(factor[i][i], factor[i][i + 1]);
    const double cosine = factor[i][i] / length;
    const double sine = factor[i][i + 1] / length;
    for (std::size_t k = i; k < factor.size(); ++k) {
      const double left = factor[k][i];
      const double right = factor[k][i + 1];
      factor[k][i] = cosine * left + sine * right;
      factor[k][i + 1] = cosine * right - sine * left;
    }
    factor[i].resize(i + 1);
  }
}

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

LassoPath::LassoPath(const SymmetricColumns& q_matrix, Vector q)
    : q_matrix_(q_matrix),
      q_(std::move(q)),
      b_(q_.size()),
      slopes_(q_),
      signs_(q_.size()),
      barred_(q_.size()),
      left_last_(q_.size()),
      lambda_(0) {
  for (const double slope : q_) lambda_ = std::max(lambda_, std::abs(slope));
}

const Vector& LassoPath::at(double lambda, const std::function<void()>& between) {
  const std::size_t most = kMostEvents * b_.size();
  for (std::size_t events = 0; lambda_ > lambda && events < most; ++events) {
    between();
    const Vector way = direction();
    const Vector changes = slope_changes(way);
    Event event = next(lambda_ - lambda, way, changes);
    Vector row;
    while (event.joins && !is_independent(event.effect, row)) {
      barred_[event.effect] = 1;
      event = next(lambda_ - lambda, way, changes);
    }
    for (std::size_t k = 0; k < in_.size(); ++k) b_[in_[k]] += event.way * way[k];
    for (std::size_t j = 0; j < slopes_.size(); ++j) slopes_[j] -= event.way * changes[j];
    lambda_ -= event.way;
    if (event.effect == b_.size()) break;
    if (event.joins) {
      join(event.effect, std::move(row));
    } else {
      leave(event.effect);
    }
  }
  lambda_ = std::min(lambda_, lambda);
  find_slopes();
  return b_;
}

Vector LassoPath::direction() const {
  Vector signs;
  for (const std::size_t j : in_) signs.push_back(signs_[j]);
  return backward(factor_, forward(factor_, std::move(signs)));
}

Vector LassoPath::slope_changes(const Vector& direction) const {
  Vector changes(b_.size());
  for (std::size_t k = 0; k < in_.size(); ++k) {
    const Vector& column = q_matrix_[in_[k]];
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] += direction[k] * column[i];
  }
  return changes;
}

// An effect leaves when it becomes 0, and joins when its gradient reaches lambda or -lambda. An
// effect that has just left has such a gradient here.
LassoPath::Event LassoPath::next(double goal, const Vector& direction,
                                 const Vector& changes) const {
  Event first = {goal, b_.size(), false};
  const auto take = [&](double way, std::size_t effect, bool joins) {
    if (way < first.way) first = {std::max(way, 0.0), effect, joins};
  };
  for (std::size_t k = 0; k < in_.size(); ++k) {
    const std::size_t j = in_[k];
    if (direction[k] * signs_[j] < 0) take(-b_[j] / direction[k], j, false);
  }
  for (std::size_t j = 0; j < b_.size(); ++j) {
    if (is_in(j) || barred_[j] != 0 || j == left_last_) continue;
    if (changes[j] < 1) take((lambda_ - slopes_[j]) / (1 - changes[j]), j, true);
    if (changes[j] > -1) take((lambda_ + slopes_[j]) / (1 + changes[j]), j, true);
  }
  return first;
}

bool LassoPath::is_independent(std::size_t effect, Vector& row) const {
  row.clear();
  for (const std::size_t j : in_) row.push_back(q_matrix_[effect][j]);
  row = forward(factor_, std::move(row));
  const double square = q_matrix_[effect][effect];
  double left = square;
  for (const double value : row) left -= value * value;
  row.push_back(std::sqrt(std::max(left, 0.0)));
  return left > kDependentEffect * square;
}

void LassoPath::join(std::size_t effect, Vector row) {
  left_last_ = b_.size();
  factor_.push_back(std::move(row));
  in_.push_back(effect);
  signs_[effect] = sign(slopes_[effect]);
}

void LassoPath::leave(std::size_t effect) {
  const auto place = std::find(in_.begin(), in_.end(), effect);
  remove_row(factor_, static_cast<std::size_t>(place - in_.begin()));
  in_.erase(place);
  b_[effect] = 0;
  signs_[effect] = 0;
  left_last_ = effect;
}

void LassoPath::find_slopes() { slopes_ = slopes_at(q_matrix_, q_, b_); }

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
    // Updated gradients drift by rounding; recompute them before testing convergence.
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
