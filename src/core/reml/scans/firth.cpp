// Fisher scoring with the score D'(y - m + h (1/2 - m)), where h is the diagonal of the hat matrix
// (Firth 1993, Biometrika 80:27; Heinze and Schemper 2002, Statistics in Medicine 21:2409).
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
constexpr int kMostScoringSteps = 200;
constexpr int kMostHalvings = 40;
// Of a sample's log odds, in one step.
constexpr double kLongestStep = 5;

class FirthRegression {
 public:
  FirthRegression(const Vector& y, const Vector& offset, const Vector& rows)
      : y_(y), offset_(offset), rows_(rows), k_(rows.size() / y.size()) {}

  FirthEffect effect() const {
    Point here = at(Vector(k_));
    for (int i = 0; i < kMostScoringSteps && std::isfinite(here.value); ++i) {
      const Vector inverse = inverse_of(here.information);
      const Vector score = score_at(here, inverse);
      Vector step = times(inverse, score);
      if (dot(step, score) < kFirthDecrement) {
        return {here.coefficients.back(), std::sqrt(inverse.back())};
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
    Vector means;
    Vector information;  // D'W D
    double value;        // the penalised log-likelihood; NaN if the information is singular
  };

  const double* row(std::size_t i) const { return rows_.data() + i * k_; }

  double along(std::size_t i, const Vector& coefficients) const {
    double sum = 0;
    for (std::size_t j = 0; j < k_; ++j) sum += row(i)[j] * coefficients[j];
    return sum;
  }

  Point at(Vector coefficients) const {
    Point point{std::move(coefficients), Vector(y_.size()), Vector(k_ * k_), 0};
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double odds = offset_[i] + along(i, point.coefficients);
      const double shrunk = std::exp(-std::abs(odds));
      const double mean = (odds > 0 ? 1 : shrunk) / (1 + shrunk);
      point.means[i] = mean;
      // y odds - log(1 + e^odds), without overflow
      point.value += (y_[i] - (odds > 0 ? 1 : 0)) * odds - std::log1p(shrunk);
      const double weight = shrunk / ((1 + shrunk) * (1 + shrunk));
      for (std::size_t a = 0; a < k_; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
          point.information[a * k_ + b] += weight * row(i)[a] * row(i)[b];
        }
      }
    }
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        point.information[b * k_ + a] = point.information[a * k_ + b];
      }
    }
    point.value += CholeskyFactor(k_, point.information).log_determinant() / 2;
    return point;
  }

  Vector inverse_of(const Vector& information) const {
    const CholeskyFactor factor(k_, information);
    Vector inverse;
    for (std::size_t j = 0; j < k_; ++j) {
      Vector column(k_);
      column[j] = 1;
      factor.solve(column);
      inverse.insert(inverse.end(), column.begin(), column.end());
    }
    return inverse;
  }

  Vector times(const Vector& matrix, const Vector& v) const {
    Vector product(k_);
    for (std::size_t a = 0; a < k_; ++a) {
      for (std::size_t b = 0; b < k_; ++b) product[a] += matrix[a * k_ + b] * v[b];
    }
    return product;
  }

  Vector score_at(const Point& here, const Vector& inverse) const {
    Vector score(k_);
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double m = here.means[i];
      double form = 0;
      for (std::size_t a = 0; a < k_; ++a) {
        for (std::size_t b = 0; b < k_; ++b) form += row(i)[a] * inverse[a * k_ + b] * row(i)[b];
      }
      const double residual = y_[i] - m + m * (1 - m) * form * (0.5 - m);
      for (std::size_t a = 0; a < k_; ++a) score[a] += residual * row(i)[a];
    }
    return score;
  }

  void shorten(Vector& step) const {
    double longest = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      longest = std::max(longest, std::abs(along(i, step)));
    }
    if (longest <= kLongestStep) return;
    for (double& value : step) value *= kLongestStep / longest;
  }

  // Halves the step until it does not lower the value. Returns false if it always does.
  bool advance(Vector step, Point& here) const {
    // Near the maximum, the gain is below rounding errors.
    const double least = here.value - kRounding * (1 + std::abs(here.value));
    for (int i = 0; i < kMostHalvings; ++i) {
      Vector coefficients = here.coefficients;
      for (std::size_t j = 0; j < k_; ++j) coefficients[j] += step[j];
      Point next = at(std::move(coefficients));
      if (next.value >= least) {
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
