// Newton steps in the cone of covariance matrices, shortened until the likelihood rises.
#include "core/reml/multivariate/trait_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numerics/vectors.h"
#include "core/reml/fit/search_end.h"
#include "core/reml/fit/steps.h"
#include "core/reml/kernels/kernel_checks.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;
using Kind = TraitConstraint::Kind;

// As in the search of one trait's variances.
constexpr double kRoundingOfLikelihood = 1e-10;
constexpr double kShortestStep = 1e-9;
// Information with a smaller relative pivot is not positive definite.
constexpr double kSmallestPivot = 1e-8;
constexpr double kMostTimes = 1000;

// a b, of rows x inner and inner x columns.
Vector times(std::size_t rows, std::size_t inner, std::size_t columns, const Vector& a,
             const Vector& b) {
  Vector c(rows * columns);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t l = 0; l < inner; ++l) {
      for (std::size_t i = 0; i < rows; ++i) c[j * rows + i] += a[l * rows + i] * b[j * inner + l];
    }
  }
  return c;
}

Vector transposed(std::size_t rows, std::size_t columns, const Vector& a) {
  Vector result(a.size());
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + j] = a[j * rows + i];
  }
  return result;
}

// B, t x (t - 1): the trait `of.row` is `factor` times the trait `of.column`.
Vector expansion(std::size_t t, const TraitPair& of, double factor) {
  Vector b(t * (t - 1));
  for (std::size_t j = 0, column = 0; j < t; ++j) {
    if (j == of.row) continue;
    b[column * t + j] = 1;
    if (j == of.column) b[column * t + of.row] = factor;
    ++column;
  }
  return b;
}

// B C B', packed.
Vector expanded(std::size_t t, const Vector& b, const Vector& c) {
  return packed(t, times(t, t - 1, t, times(t, t - 1, t - 1, b, c), transposed(t, t - 1, b)));
}

}  // namespace

TraitSpace::TraitSpace(const TraitModel& model, const TraitConstraint& constraint, double floor)
    : traits_(model.traits()), components_(model.components()), constraint_(constraint) {
  const auto pairs = trait_pairs(traits_);
  for (std::size_t g = 0; g < components_; ++g) {
    const bool constrained = constraint.kind != Kind::kNone && g == constraint.component;
    const bool reduced = constrained && constraint.kind == Kind::kProportional;
    const std::size_t size = reduced ? traits_ - 1 : traits_;
    blocks_.push_back({fixed_.size(), size, g + 1 == components_ ? floor : 0});
    if (reduced) {
      fixed_.resize(fixed_.size() + number_of_pairs(size) + 1);
      continue;
    }
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      const bool is_zero = constrained && pairs[j].row == constraint.pair.row &&
                           pairs[j].column == constraint.pair.column;
      fixed_.push_back(is_zero || model.unknown()[g * pairs.size() + j] != 0 ? 1 : 0);
    }
  }
}

Vector TraitSpace::nearest(const Vector& theta) const {
  Vector phi;
  const std::size_t m = number_of_pairs(traits_);
  for (std::size_t g = 0; g < components_; ++g) {
    const Vector whole = unpacked(traits_, &theta[g * m]);
    const bool constrained = constraint_.kind != Kind::kNone && g == constraint_.component;
    const bool reduced = constrained && constraint_.kind == Kind::kProportional;
    for (const auto& [row, column] : trait_pairs(traits_)) {
      if (reduced && (row == constraint_.pair.row || column == constraint_.pair.row)) continue;
      // Without any correlations the matrix stays positive.
      const bool dropped = constrained && !reduced && row != column;
      phi.push_back(dropped ? 0 : whole[column * traits_ + row]);
    }
    if (!reduced) continue;
    const auto [b, a] = constraint_.pair;
    const double ratio = std::sqrt(whole[b * traits_ + b] / whole[a * traits_ + a]);
    phi.push_back(std::copysign(ratio, whole[a * traits_ + b]));
  }
  return phi;
}

Vector TraitSpace::theta(const Vector& phi) const {
  if (constraint_.kind != Kind::kProportional) return phi;
  const CovarianceBlock& block = blocks_[constraint_.component];
  const std::size_t end = factor();
  const Vector b = expansion(traits_, constraint_.pair, phi[end]);
  const Vector whole = expanded(traits_, b, unpacked(block.size, &phi[block.first]));
  Vector result(phi.begin(), phi.begin() + static_cast<std::ptrdiff_t>(block.first));
  result.insert(result.end(), whole.begin(), whole.end());
  result.insert(result.end(), phi.begin() + static_cast<std::ptrdiff_t>(end + 1), phi.end());
  return result;
}

Vector TraitSpace::jacobian(const Vector& phi) const {
  const std::size_t k = components_ * number_of_pairs(traits_);
  Vector result(k * phi.size());
  if (constraint_.kind != Kind::kProportional) {
    for (std::size_t j = 0; j < k; ++j) result[j * (k + 1)] = 1;
    return result;
  }
  // theta is linear in all coordinates but the factor, and quadratic in it.
  for (std::size_t j = 0; j < phi.size(); ++j) {
    Vector up = phi;
    Vector down = phi;
    const double step = j == factor() ? 1 : 0.5;
    up[j] += step;
    down[j] -= step;
    const Vector above = theta(up);
    const Vector below = theta(down);
    for (std::size_t i = 0; i < k; ++i) {
      result[j * k + i] = (above[i] - below[i]) / (2 * step);
    }
  }
  return result;
}

Vector TraitSpace::curvature(const Vector& phi, const Vector& score) const {
  const std::size_t m = phi.size();
  Vector result(m * m);
  if (constraint_.kind != Kind::kProportional) return result;
  // Second derivatives exist only beside the factor, in which the Jacobian is quadratic.
  Vector up = phi;
  Vector down = phi;
  up[factor()] += 1;
  down[factor()] -= 1;
  const Vector above = jacobian(up);
  const Vector below = jacobian(down);
  const std::size_t k = score.size();
  for (std::size_t j = 0; j < m; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += score[i] * (above[j * k + i] - below[j * k + i]) / 2;
    result[j * m + factor()] = result[factor() * m + j] = sum;
  }
  return result;
}

namespace {

// The first dependent row of a matrix, apart from the rows of fixed coordinates.
std::size_t first_dependent_of(Vector matrix, const std::vector<char>& fixed, double smallest) {
  const std::size_t k = fixed.size();
  for (std::size_t j = 0; j < k; ++j) {
    if (fixed[j] != 0) matrix[j * (k + 1)] = std::max(matrix[j * (k + 1)], 1.0);
  }
  return first_dependent(std::move(matrix), k, smallest);
}

class TraitSearch {
 public:
  TraitSearch(TraitModel& model, const TraitSpace& space, const SearchSettings& settings)
      : model_(model), space_(space), end_(settings) {}

  TraitMaximum from(Vector phi);

 private:
  void check_independent() const;
  ConeModel local();
  void choose_damping(const Vector& score);
  bool go(const Vector& d);
  Vector information(const Vector& jacobian, const Vector& across) const;

  TraitModel& model_;
  const TraitSpace& space_;
  SearchEnd end_;
  Vector phi_;
  TraitMaximum at_;
  double step_ = 0;
  double damping_ = 1;     // times the information
  Vector last_;            // the direction of the last step
  double last_slope_ = 0;  // of the likelihood along it, at its start
};

// The observed information 2 AI - E in coordinates of the space, plus the multiple of AI that makes
// it positive definite.
Vector TraitSearch::information(const Vector& jacobian, const Vector& across) const {
  const std::size_t k = model_.parameters();
  const std::size_t m = phi_.size();
  const auto in_space = [&](const Vector& matrix) {
    return times(m, k, m, times(m, k, k, across, matrix), jacobian);
  };
  Vector average = in_space(at_.derivatives.average);
  const Vector expected = in_space(at_.derivatives.expected);
  const Vector curvature = space_.curvature(phi_, at_.derivatives.score);
  const auto is_positive = [&](const Vector& matrix) {
    return first_dependent_of(matrix, space_.fixed(), kSmallestPivot) == m;
  };
  Vector observed = average;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    observed[i] = 2 * average[i] - expected[i] - curvature[i];
  }
  if (is_positive(observed)) return observed;
  double times = 1;
  while (times < kMostTimes) {
    Vector result = average;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = times * average[i] - curvature[i];
    if (is_positive(result)) return result;
    times *= 2;
  }
  return average;
}

ConeModel TraitSearch::local() {
  const std::size_t k = model_.parameters();
  const std::size_t m = phi_.size();
  const Vector jacobian = space_.jacobian(phi_);
  const Vector across = transposed(k, m, jacobian);
  Vector score = times(m, k, 1, across, at_.derivatives.score);
  choose_damping(score);
  Vector damped = information(jacobian, across);
  for (double& value : damped) value *= damping_;
  return {phi_, space_.blocks(), space_.fixed(), std::move(score), std::move(damped)};
}

// A step beyond the maximum along its direction has a slope of the other sign at its end: the
// information was too small.
void TraitSearch::choose_damping(const Vector& score) {
  if (last_.empty()) return;
  const double share = dot(score, last_) / last_slope_;
  if (share < -0.5) damping_ *= 2;
  if (share > -0.1) damping_ = std::max(damping_ / 2, 1.0);
}

// Moves along d to a point where the likelihood is not lower. Returns false if none exists.
bool TraitSearch::go(const Vector& d) {
  const double rounding = kRoundingOfLikelihood * (1 + std::abs(at_.log_likelihood));
  double share = 1;
  while (share > kShortestStep) {
    Vector next = phi_;
    for (std::size_t j = 0; j < next.size(); ++j) next[j] += share * d[j];
    if (model_.move_to(space_.theta(next)) &&
        model_.log_likelihood() >= at_.log_likelihood - rounding) {
      phi_ = std::move(next);
      step_ = share * std::sqrt(at_.iterations.back().decrement);
      return true;
    }
    share /= 4;
  }
  return false;
}

void TraitSearch::check_independent() const {
  const std::size_t dependent =
      first_dependent_of(at_.derivatives.average, model_.unknown(), kDependentKernel);
  if (dependent == model_.parameters()) return;
  throw DependentComponent(dependent / number_of_pairs(model_.traits()), "a component");
}

TraitMaximum TraitSearch::from(Vector phi) {
  phi_ = std::move(phi);
  while (true) {
    at_.theta = space_.theta(phi_);
    at_.log_likelihood = model_.log_likelihood();
    at_.derivatives = model_.derivatives();
    if (at_.iterations.empty()) check_independent();
    const ConeModel here = local();
    const Vector d = cone_step(here);
    const double decrement = damping_ * squared_length(here, d);
    at_.iterations.push_back({at_.log_likelihood, decrement, 0, step_, at_.theta});
    if (end_.reached(decrement, at_)) break;
    last_ = d;
    last_slope_ = dot(here.score, d);
    if (!go(d)) {
      model_.move_to(at_.theta);
      end_search(false, "stopped", "no step from here raises the likelihood", at_);
      break;
    }
  }
  return std::move(at_);
}

}  // namespace

TraitMaximum search_traits(TraitModel& model, const TraitSpace& space,
                           const std::vector<double>& start, const SearchSettings& settings) {
  Vector phi = space.nearest(start);
  if (!model.move_to(space.theta(phi))) {
    throw InputError("the covariance of the traits is not positive at the start of the search");
  }
  return TraitSearch(model, space, settings).from(std::move(phi));
}

}  // namespace ancify::reml
