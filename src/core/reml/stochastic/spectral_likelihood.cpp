// With h(x) = theta_g x + theta_e and a_g(x) = x, a_e(x) = 1, for sums over the spectrum x of SKS:
//   l = -1/2 [(n - p) log 2 pi + tr log h + y'h^-1 y],  s_i = 1/2 [y'a_i h^-2 y - tr(a_i h^-1)],
//   AI_ij = 1/2 y'a_i a_j h^-3 y,  expected information 1/2 tr(a_i a_j h^-2).
#include "core/reml/stochastic/spectral_likelihood.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

constexpr std::array<double, 13> kShares = {0,   0.01, 0.05, 0.1, 0.2,  0.3,  0.4,
                                            0.5, 0.6,  0.7,  0.8, 0.95, 0.999};
// s'I^-1 s at convergence, small as evaluations are cheap here.
constexpr double kFound = 1e-24;
constexpr int kMostAverageSteps = 200;
constexpr int kMostCuts = 60;

double denominator(const Vector& theta, double x) { return theta[0] * x + theta[1]; }

// 1 / h(x)^power.
double part(const Vector& theta, double x, int power) {
  const double inverse = 1 / denominator(theta, x);
  double result = inverse;
  for (int i = 1; i < power; ++i) result *= inverse;
  return result;
}

}  // namespace

Vector component_sums(const SpectralSum& sum, const Vector& theta, int power) {
  return {sum.of([&](double x) { return x * part(theta, x, power); }),
          sum.of([&](double x) { return part(theta, x, power); })};
}

SpectralLikelihood::SpectralLikelihood(SpectralSum y, SpectralSum trace, std::int64_t freedom)
    : y_(std::move(y)), trace_(std::move(trace)), freedom_(static_cast<double>(freedom)) {}

bool SpectralLikelihood::is_positive(const Vector& theta) const {
  const auto good = [&](double x) { return denominator(theta, x) > 0; };
  return std::all_of(y_.nodes.begin(), y_.nodes.end(), good) &&
         std::all_of(trace_.nodes.begin(), trace_.nodes.end(), good);
}

double SpectralLikelihood::log_likelihood(const Vector& theta) const {
  const double determinant = trace_.of([&](double x) { return std::log(denominator(theta, x)); });
  const double square = y_.of([&](double x) { return 1 / denominator(theta, x); });
  return -0.5 * (freedom_ * kLogTwoPi + determinant + square);
}

Vector SpectralLikelihood::score(const Vector& theta) const {
  const Vector forms = component_sums(y_, theta, 2);
  const Vector traces = component_sums(trace_, theta, 1);
  return {(forms[0] - traces[0]) / 2, (forms[1] - traces[1]) / 2};
}

Vector SpectralLikelihood::information(const Vector& theta, bool expected) const {
  const SpectralSum& sum = expected ? trace_ : y_;
  const int power = expected ? 2 : 3;
  const auto half = [&](double squares, double ones) {
    return sum.of([&](double x) { return (squares * x + ones) * x * part(theta, x, power) / 2; });
  };
  const double both = half(0, 1);
  return {half(1, 0), both, both, sum.of([&](double x) { return part(theta, x, power) / 2; })};
}

LocalModel SpectralLikelihood::at(const Vector& theta, const SearchSettings& settings) const {
  return {theta, settings.lower, score(theta), information(theta, settings.expected)};
}

Vector SpectralLikelihood::best_start(const SearchSettings& settings) const {
  std::vector<Vector> starts;
  for (const double share : kShares) {
    const Vector shares = {share, 1 - share};
    // The variance that maximises the likelihood with these shares.
    const double square = y_.of([&](double x) { return 1 / denominator(shares, x); });
    starts.push_back({share * square / freedom_, (1 - share) * square / freedom_});
  }
  if (!settings.start.empty()) starts.push_back(settings.start);
  Vector best;
  double highest = -std::numeric_limits<double>::infinity();
  for (Vector& start : starts) {
    for (std::size_t i = 0; i < 2; ++i) start[i] = std::max(start[i], settings.lower[i]);
    if (!is_positive(start)) continue;
    const double value = log_likelihood(start);
    if (value <= highest) continue;
    highest = value;
    best = start;
  }
  return best;
}

Vector SpectralLikelihood::maximum(const SearchSettings& settings) const {
  Vector theta = best_start(settings);
  if (theta.empty()) return theta;
  for (int step = 0; step < kMostAverageSteps; ++step) {
    const LocalModel model = at(theta, settings);
    if (decrement(model) < kFound) break;
    // Near the maximum gains are below rounding errors, and steps are reliable.
    const double here = log_likelihood(theta);
    const double least = here - 1e-12 * std::abs(here);
    Step next = bounded_step(model, std::numeric_limits<double>::infinity());
    for (int cut = 0; !is_positive(next.theta) || log_likelihood(next.theta) < least; ++cut) {
      if (cut == kMostCuts) return theta;
      next = bounded_step(model, next.length / 2);
    }
    theta = std::move(next.theta);
  }
  return theta;
}

}  // namespace ancify::reml
