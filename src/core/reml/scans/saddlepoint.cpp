// With the cumulant generating function K and K'(t) = s, the tail beyond s equals a normal's tail
// beyond w + log(v / w) / w, w = sign(t) sqrt(2 (t s - K(t))), v = t sqrt(K''(t))
// (Barndorff-Nielsen 1990, JRSS B 52:485; for association tests Dey and others 2017, AJHG 101:37).
#include "core/reml/scans/saddlepoint.h"

#include <cmath>
#include <utility>

namespace ancify::reml {

namespace {

constexpr int kMostSteps = 200;
constexpr double kPrecision = 1e-12;
// Near the mean the formula is 0 / 0, and S is close to normal.
constexpr double kNearMean = 1e-4;

}  // namespace

BernoulliScore::BernoulliScore(std::vector<double> weights, std::vector<double> means,
                               double normal_variance)
    : weights_(std::move(weights)),
      means_(std::move(means)),
      normal_variance_(normal_variance),
      variance_(normal_variance),
      least_(0),
      most_(0) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double g = weights_[i];
    const double m = means_[i];
    variance_ += g * g * m * (1 - m);
    most_ += g > 0 ? g * (1 - m) : -g * m;
    least_ -= g > 0 ? g * m : -g * (1 - m);
  }
}

BernoulliScore::Cumulants BernoulliScore::at(double t) const {
  Cumulants sum = {normal_variance_ * t * t / 2, normal_variance_ * t, normal_variance_};
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double g = weights_[i];
    const double m = means_[i];
    const double x = g * t;
    // log(1 - m + m e^x) and its derivatives, without overflow.
    const double shrunk = std::exp(-std::abs(x));
    const double whole = x > 0 ? m + (1 - m) * shrunk : 1 - m + m * shrunk;
    const double tilted = (x > 0 ? m : m * shrunk) / whole;
    sum.value += (x > 0 ? x : 0) + std::log(whole) - x * m;
    sum.slope += g * (tilted - m);
    sum.curvature += g * g * tilted * (1 - tilted);
  }
  return sum;
}

// Newton's method within a bracket, as the slope rises with t.
double BernoulliScore::saddlepoint(double s) const {
  const double direction = s > 0 ? 1 : -1;
  double inner = 0;
  double outer = s / variance_;
  while (direction * (at(outer).slope - s) < 0) {
    inner = outer;
    outer *= 2;
  }
  double t = outer;
  for (int step = 0; step < kMostSteps; ++step) {
    const Cumulants here = at(t);
    const double excess = here.slope - s;
    (direction * excess < 0 ? inner : outer) = t;
    if (std::abs(excess) <= kPrecision * std::abs(s)) break;
    const double next = t - excess / here.curvature;
    const bool is_inside = (next - inner) * (next - outer) < 0;
    t = is_inside ? next : (inner + outer) / 2;
  }
  return t;
}

double BernoulliScore::signed_root(double s) const {
  const double normal = s / std::sqrt(variance_);
  const bool is_beyond = normal_variance_ == 0 && (s >= most_ || s <= least_);
  if (std::abs(normal) < kNearMean || is_beyond) return normal;
  const double t = saddlepoint(s);
  const Cumulants here = at(t);
  const double w = std::copysign(std::sqrt(2 * std::abs(t * s - here.value)), t);
  const double v = t * std::sqrt(here.curvature);
  const double root = w + std::log(v / w) / w;
  return std::isfinite(root) ? root : normal;
}

}  // namespace ancify::reml
