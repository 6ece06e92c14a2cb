// The score is D'(y - m + h (1/2 - m)), where h is the diagonal of the hat matrix (Firth 1993,
// Biometrika 80:27; Heinze and Schemper 2002, Statistics in Medicine 21:2409). Newton's steps take
// h as constant, which is exact for a singleton.
#include "core/reml/scans/firth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/numerics/cholesky.h"
#include "core/numerics/vectors.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// The search ends where twice the predicted gain of a step is below this.
constexpr double kFirthDecrement = 1e-20;
// Relative error of the penalised likelihood.
constexpr double kRounding = 1e-12;
// The least share of the gain predicted by the slope that a step must reach.
constexpr double kLeastGain = 1e-4;
// Small samples that fixed effects nearly separate need hundreds of steps, others about ten.
constexpr int kMostFirthSteps = 5000;
constexpr int kMostHalvings = 40;
// The largest change of a sample's log odds in one step.
constexpr double kLongestStep = 5;

class FirthRegression {
 public:
  FirthRegression(const Vector& y, const Vector& offset, const Vector& rows)
      : y_(y), offset_(offset), rows_(rows), k_(rows.size() / y.size()) {}

  FirthEffect effect() const {
    Point here = at(Vector(k_));
    for (int i = 0; i < kMostFirthSteps && std::isfinite(here.value); ++i) {
      Vector step = here.score;
      CholeskyFactor(k_, here.curvature).solve(step);
      if (dot(step, here.score) < kFirthDecrement) {
        return {here.coefficients.back(), std::sqrt(here.variance)};
      }
      shorten(step);
      if (!advance(step, here)) break;
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }

 private:
  struct Point {
    Vector coefficients;
    double value;      // the penalised log-likelihood
    Vector score;      // empty if the value is not finite
    Vector curvature;  // D'W (I + H) D, the negative derivative of the score for constant h
    double variance;   // of the last coefficient
  };

  const double* row(std::size_t i) const { return rows_.data() + i * k_; }

  double along(std::size_t i, const Vector& coefficients) const {
    double sum = 0;
    for (std::size_t j = 0; j < k_; ++j) sum += row(i)[j] * coefficients[j];
    return sum;
  }

  Point at(Vector coefficients) const {
    Point point{std::move(coefficients), 0, {}, {}, 0};
    Vector means(y_.size());
    Vector weights(y_.size());
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double odds = offset_[i] + along(i, point.coefficients);
      const double shrunk = std::exp(-std::abs(odds));
      means[i] = (odds > 0 ? 1 : shrunk) / (1 + shrunk);
      weights[i] = shrunk / ((1 + shrunk) * (1 + shrunk));
      // y odds - log(1 + e^odds), without overflow
      point.value += (y_[i] - (odds > 0 ? 1 : 0)) * odds - std::log1p(shrunk);
    }
    const CholeskyFactor information(k_, squares(weights));
    point.value += information.log_determinant() / 2;
    if (!std::isfinite(point.value)) return point;
    const Vector inverse = inverse_of(information);
    point.variance = inverse.back();
    point.score.resize(k_);
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double leverage = weights[i] * form(inverse, i);
      const double residual = y_[i] - means[i] + leverage * (0.5 - means[i]);
      for (std::size_t a = 0; a < k_; ++a) point.score[a] += residual * row(i)[a];
      weights[i] *= 1 + leverage;
    }
    point.curvature = squares(weights);
    return point;
  }

  // D'W D
  Vector squares(const Vector& weights) const {
    Vector sum(k_ * k_);
    for (std::size_t i = 0; i < y_.size(); ++i) {
      for (std::size_t a = 0; a < k_; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
          sum[a * k_ + b] += weights[i] * row(i)[a] * row(i)[b];
        }
      }
    }
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t b = 0; b < a; ++b) sum[b * k_ + a] = sum[a * k_ + b];
    }
    return sum;
  }

  Vector inverse_of(const CholeskyFactor& factor) const {
    Vector inverse;
    for (std::size_t j = 0; j < k_; ++j) {
      Vector column(k_);
      column[j] = 1;
      factor.solve(column);
      inverse.insert(inverse.end(), column.begin(), column.end());
    }
    return inverse;
  }

  // x'A x for the i-th row x.
  double form(const Vector& matrix, std::size_t i) const {
    double sum = 0;
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t b = 0; b < k_; ++b) sum += row(i)[a] * matrix[a * k_ + b] * row(i)[b];
    }
    return sum;
  }

  void shorten(Vector& step) const {
    double longest = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      longest = std::max(longest, std::abs(along(i, step)));
    }
    if (longest <= kLongestStep) return;
    for (double& value : step) value *= kLongestStep / longest;
  }

  // Halves the step until it gains enough, and does not go far beyond the maximum along it, as
  // steps would then oscillate. Returns false if no step qualifies.
  bool advance(Vector step, Point& here) const {
    // Near the maximum, the gain is below rounding errors, but the slope is not.
    const double rounding = kRounding * (1 + std::abs(here.value));
    for (int i = 0; i < kMostHalvings; ++i) {
      const double slope = dot(step, here.score);
      Vector coefficients = here.coefficients;
      for (std::size_t j = 0; j < k_; ++j) coefficients[j] += step[j];
      Point next = at(std::move(coefficients));
      const bool gains = next.value >= here.value + kLeastGain * slope - rounding;
      if (gains && dot(step, next.score) >= -slope / 2) {
        here = std::move(next);
        return true;
      }
      for (double& value : step) value /= 2;
    }
    return false;
  }

  const Vector& y_;
  const Vector& offset_;
  const Vector& rows_;
  std::size_t k_;
};

}  // namespace

FirthEffect firth_effect(const Vector& y, const Vector& offset, const Vector& rows) {
  return FirthRegression(y, offset, rows).effect();
}

}  // namespace ancify::reml
