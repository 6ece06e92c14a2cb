// exp(t A) = sum_k w_k T_k(I + A / h) with t h = z, w_k = exp(-z) I_k(z) (2 - [k = 0]), Chebyshev's
// polynomials T and Bessel's functions I, for eigenvalues from -2 h to 0. About sqrt(z) terms are
// enough: Tal-Ezer (1989) SIAM Journal on Numerical Analysis 26:1.
#include "core/moments/exponential.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ancify::moments {

namespace {

// A has eigenvectors far from orthogonal, and eigenvalues with imaginary parts where lineages
// circle. Both let terms grow. Growth of high degrees is harmless up to about this factor, because
// drift soon erases their error.
constexpr double kMostGrowth = 1e14;

int terms_of(double z) { return static_cast<int>(std::ceil(std::sqrt(80 * z))) + 30; }

// The weights w_0, w_1, ..., by backward recurrence: I_(k-1) = I_(k+1) + 2 k / z I_k; their sum
// is 1.
std::vector<double> chebyshev_weights(double z) {
  const int n = terms_of(z);
  std::vector<double> weights(static_cast<std::size_t>(n) + 1);
  double above = 0;
  double value = 1e-290;
  double sum = 0;
  for (int k = n; k >= 0; --k) {
    weights[static_cast<std::size_t>(k)] = k == 0 ? value : 2 * value;
    sum += weights[static_cast<std::size_t>(k)];
    const double next = above + 2 * k / z * value;
    above = value;
    value = next;
    if (value > 1e200) {
      for (double* const x : {&above, &value, &sum}) *x *= 1e-200;
      for (double& weight : weights) weight *= 1e-200;
    }
  }
  for (double& weight : weights) weight /= sum;
  while (weights.size() > 2 && weights.back() < 1e-17) weights.pop_back();
  return weights;
}

// Adds up the series for one part of the time. False if its terms grow too much.
class Series {
 public:
  Series(Generator& generator, std::size_t moments)
      : generator_(generator), before_(moments), now_(moments), changes_(moments) {}

  bool advance(double time, std::vector<double>& c, const TaskContext& context) {
    // Without drift and migration, mutations alone change moments.
    const double half = std::max(generator_.radius(), 1e-3 / time) / 2;
    const std::vector<double> weights = chebyshev_weights(time * half);
    const std::size_t n = c.size();
    before_ = c;
    generator_.apply(before_.data(), changes_.data());
    for (std::size_t i = 0; i < n; ++i) {
      now_[i] = before_[i] + changes_[i] / half;
      c[i] = weights[0] * before_[i] + weights[1] * now_[i];
    }
    const double most = kMostGrowth * std::max(largest(before_), largest(now_));
    for (std::size_t k = 2; k < weights.size(); ++k) {
      context.throw_if_stopped();
      generator_.apply(now_.data(), changes_.data());
      for (std::size_t i = 0; i < n; ++i) {
        before_[i] = 2 * (now_[i] + changes_[i] / half) - before_[i];
        c[i] += weights[k] * before_[i];
      }
      before_.swap(now_);
      if (largest(now_) > most) return false;
    }
    return true;
  }

 private:
  static double largest(const std::vector<double>& c) {
    double most = 0;
    for (const double x : c) most = std::max(most, std::abs(x));
    return most;
  }

  Generator& generator_;
  std::vector<double> before_;
  std::vector<double> now_;
  std::vector<double> changes_;
};

}  // namespace

double applications(double radius, double time) { return terms_of(time * radius / 2); }

void advance(Generator& generator, double time, std::vector<double>& c,
             const TaskContext& context) {
  Series series(generator, c.size());
  double part = time;
  for (double left = time; left > 0;) {
    const std::vector<double> start = c;
    if (series.advance(std::min(part, left), c, context)) {
      left -= part;
    } else {
      c = start;
      part /= 2;
    }
  }
}

}  // namespace ancify::moments
