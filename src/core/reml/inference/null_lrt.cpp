// With eigenvalues mu_i and independent standard normal w_i, the statistic is the maximum over
// r >= 0 of
//   N log(sum w_i^2 / sum (w_i^2 / h_i)) - sum log(h_i),  h_i = 1 + r mu_i
// (Crainiceanu and Ruppert 2004, J. R. Statist. Soc. B 66, 165, equation 9). A grid finds the
// highest peak, and Newton's method with bisection its maximum.
#include "core/reml/inference/null_lrt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/philox.h"
#include "core/exec/threads.h"

namespace ancify::reml {

namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

// A uniform deviate in (0, 1] of 53 random bits.
double uniform(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 21) | (low >> 11);
  return (static_cast<double>(bits) + 1) * 0x1p-53;
}

// Squares of standard normal deviates (Box and Muller 1958, Ann. Math. Statist. 29, 610).
void draw_squares(std::uint64_t seed, std::uint64_t draw, std::vector<double>& squares) {
  for (std::size_t i = 0; i < squares.size(); i += 2) {
    const PhiloxBlock bits = philox(seed, draw, i / 2);
    const double length = -2 * std::log(uniform(bits[0], bits[1]));
    const double cosine = std::cos(kTwoPi * uniform(bits[2], bits[3]));
    const double share = cosine * cosine;
    squares[i] = length * share;
    if (i + 1 < squares.size()) squares[i + 1] = length * (1 - share);
  }
}

}  // namespace

NullLrt::NullLrt(std::vector<double> eigenvalues) : eigenvalues_(std::move(eigenvalues)) {
  for (double& value : eigenvalues_) value = std::max(value, 0.0);
  const double sum = std::accumulate(eigenvalues_.begin(), eigenvalues_.end(), 0.0);
  if (!(sum > 0)) throw InputError("the kernel has no eigenvalue above 0");
  const double mean = sum / static_cast<double>(eigenvalues_.size());
  ratios_ = {0};
  // Variance shares from a millionth to all but a millionth.
  for (int i = -56; i <= 56; ++i) ratios_.push_back(std::exp(0.25 * i) / mean);
  log_determinants_.resize(ratios_.size());
  for (const double value : eigenvalues_) {
    for (std::size_t k = 0; k < ratios_.size(); ++k) {
      const double h = 1 + ratios_[k] * value;
      weights_.push_back(1 / h);
      log_determinants_[k] += std::log(h);
    }
  }
}

NullLrt::Slopes NullLrt::slopes(double ratio, const std::vector<double>& squares) const {
  double rest = 0;    // sum w^2 / h
  double first = 0;   // minus its first derivative
  double second = 0;  // half its second derivative
  double trace = 0;
  double trace_of_square = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    const double inverse = 1 / (1 + ratio * eigenvalues_[i]);
    const double step = eigenvalues_[i] * inverse;
    const double part = squares[i] * inverse;
    rest += part;
    first += part * step;
    second += part * step * step;
    trace += step;
    trace_of_square += step * step;
  }
  const auto n = static_cast<double>(squares.size());
  const double relative = first / rest;
  return {n * relative - trace, n * (relative * relative - 2 * second / rest) + trace_of_square,
          rest};
}

// The ratio between `from` and `to` at which the derivative turns negative.
double NullLrt::peak(double from, double to, const std::vector<double>& squares) const {
  double at = (from + to) / 2;
  constexpr int kMostSteps = 100;
  for (int step = 0; step < kMostSteps; ++step) {
    const Slopes here = slopes(at, squares);
    (here.first > 0 ? from : to) = at;
    double next = at - here.first / here.second;
    if (!(next > from && next < to)) next = (from + to) / 2;
    const bool done = std::abs(next - at) <= 1e-12 * at;
    at = next;
    if (done) break;
  }
  return at;
}

double NullLrt::statistic(const std::vector<double>& squares) const {
  const std::size_t points = ratios_.size();
  std::vector<double> rests(points, 0);
  for (std::size_t i = 0; i < squares.size(); ++i) {
    const double* const weights = &weights_[i * points];
    for (std::size_t k = 0; k < points; ++k) rests[k] += squares[i] * weights[k];
  }
  const auto n = static_cast<double>(squares.size());
  const auto height = [&](std::size_t k) {
    return n * std::log(rests[0] / rests[k]) - log_determinants_[k];
  };
  std::size_t best = 0;
  for (std::size_t k = 1; k < points; ++k) {
    if (height(k) > height(best)) best = k;
  }
  if (best == 0 && slopes(0, squares).first <= 0) return 0;
  if (best + 1 == points) return height(best);
  const double top = peak(ratios_[best == 0 ? 0 : best - 1], ratios_[best + 1], squares);
  double log_determinant = 0;
  for (const double value : eigenvalues_) log_determinant += std::log1p(top * value);
  const double value = n * std::log(rests[0] / slopes(top, squares).rest) - log_determinant;
  return std::max(value, height(best));
}

std::vector<double> draw_null_lrt(const std::vector<double>& eigenvalues, std::int64_t draws,
                                  std::uint64_t seed, int threads, JobControl& control) {
  const NullLrt lrt(eigenvalues);
  constexpr std::int64_t kAtOnce = 64;
  std::vector<double> values(static_cast<std::size_t>(draws));
  control.expect(draws);
  run_tasks(control, threads, (draws + kAtOnce - 1) / kAtOnce,
            [&](std::int64_t task, const TaskContext&) {
              std::vector<double> squares(eigenvalues.size());
              const std::int64_t end = std::min(draws, (task + 1) * kAtOnce);
              for (std::int64_t draw = task * kAtOnce; draw < end; ++draw) {
                draw_squares(seed, static_cast<std::uint64_t>(draw), squares);
                values[static_cast<std::size_t>(draw)] = lrt.statistic(squares);
                control.advance(1);
              }
            });
  return values;
}

}  // namespace ancify::reml
