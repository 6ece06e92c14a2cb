// Computes the transition probabilities of a general time-reversible model (Tavare 1986, Lect.
// Math. Life Sci. 17:57) and the rates of gamma classes (Yang 1994, J. Mol. Evol. 39:306).
//   Q_ij = s_ij pi_j / (2 sum over i < j of s_ij pi_i pi_j)
//   P(t) = exp(Q t) = pi^-1/2 U exp(D t) U^T pi^1/2, where pi^1/2 Q pi^-1/2 = U D U^T is symmetric
//   r_k = n (P(alpha + 1, x_k) - P(alpha + 1, x_k-1)), where P(alpha, x_k) = k / n
#include "core/ancestry/phylogeny/substitution_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/text.h"
#include "core/numerics/symmetric_eigen.h"

namespace ancify {

namespace {

constexpr double kSumTolerance = 0.01;
constexpr double kMostAlpha = 1e4;
constexpr int kMostRates = 100;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

[[noreturn]] void refuse(const std::string& what, double value, const std::string& must) {
  throw InputError("the substitution model's " + what + " is " + number_text(value) + "; " + must);
}

void check(const SubstitutionRates& rates) {
  static constexpr std::array<const char*, 6> names = {"AC", "AG", "AT", "CG", "CT", "GT"};
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double rate = rates.exchangeabilities[i];
    if (!std::isfinite(rate) || rate < 0) {
      refuse(std::string("rate ") + names[i], rate, "it must be finite and not below 0");
    }
    any = any || rate > 0;
  }
  if (!any) throw InputError("the substitution model's rates are all 0");
  double sum = 0;
  for (int base = 0; base < kBases; ++base) {
    const double frequency = rates.frequencies[static_cast<std::size_t>(base)];
    if (!std::isfinite(frequency) || frequency <= 0) {
      refuse(std::string("frequency of ") + upper_base(base), frequency, "it must be above 0");
    }
    sum += frequency;
  }
  if (std::abs(sum - 1) > kSumTolerance) refuse("sum of base frequencies", sum, "it must be 1");
  if (rates.alpha && !(*rates.alpha > 0 && *rates.alpha <= kMostAlpha)) {
    refuse("alpha, the shape of gamma rates,", *rates.alpha,
           "it must be above 0 and at most 10000, beyond which rates hardly differ");
  }
  if (rates.n_rates < 1 || rates.n_rates > kMostRates) {
    refuse("number of rate classes", rates.n_rates, "it must be from 1 to 100");
  }
  if (!(rates.invariant >= 0 && rates.invariant < 1)) {
    refuse("share of invariant sites", rates.invariant, "it must be at least 0 and below 1");
  }
  if (!(rates.rate > 0 && std::isfinite(rates.rate))) {
    refuse("mean rate", rates.rate, "it must be above 0");
  }
}

// log Gamma(x) for x > 0, by Stirling's series. std::lgamma() writes a global variable.
double log_gamma(double x) {
  constexpr double far = 12;
  double shift = 0;
  while (x < far) shift += std::log(x++);
  const double r = 1 / (x * x);
  const double series =
      (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
  constexpr double half_log_two_pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - shift;
}

// x^a e^-x / Gamma(a)
double gamma_density_in_log(double a, double x) {
  return x > 0 ? std::exp(a * std::log(x) - x - log_gamma(a)) : 0;
}

// The x with P(a, x) = share, by Newton's method in log x. A step that leaves the bracket becomes a
// bisection.
double gamma_quantile(double a, double share) {
  double low = -700;
  double high = std::log(a + 50 * (1 + std::sqrt(a)));
  double at = std::min(std::log(a), 0.5 * (low + high) + 350);
  for (int step = 0; step < 200 && high - low > 4 * kEpsilon * (1 + std::abs(at)); ++step) {
    const double x = std::exp(at);
    const double excess = gamma_share_below(a, x) - share;
    (excess > 0 ? high : low) = at;
    const double next = at - excess / gamma_density_in_log(a, x);
    const double before = at;
    at = next > low && next < high ? next : 0.5 * (low + high);
    if (std::abs(at - before) <= kEpsilon * std::abs(at)) break;
  }
  return std::exp(at);
}

}  // namespace

double gamma_share_below(double a, double x) {
  if (x <= 0) return 0;
  const double density = gamma_density_in_log(a, x);
  if (x < a + 1) {  // the power series in x
    double term = 1 / a;
    double sum = term;
    for (double k = a + 1; term > kEpsilon * sum; ++k) sum += term *= x / k;
    return density * sum;
  }
  // The continued fraction of 1 - P, by Lentz's method.
  constexpr double tiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / b;
  double fraction = d;
  double change = 0;
  for (double k = 1; std::abs(change - 1) > kEpsilon; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    c = b + numerator / c;
    if (std::abs(c) < tiny) c = tiny;
    change = c * d;
    fraction *= change;
  }
  return 1 - density * fraction;
}

// The mean rate of a class is n times the probability mass between its quantiles under the gamma
// distribution of shape alpha + 1.
std::vector<double> gamma_rates(double alpha, int n) {
  std::vector<double> rates;
  double below = 0;
  for (int i = 1; i <= n; ++i) {
    const double up_to =
        i == n ? 1
               : gamma_share_below(alpha + 1, gamma_quantile(alpha, static_cast<double>(i) / n));
    rates.push_back(n * (up_to - below));
    below = up_to;
  }
  return rates;
}

SubstitutionModel::SubstitutionModel(const SubstitutionRates& rates)
    : frequencies_(rates.frequencies) {
  check(rates);
  const double sum = std::accumulate(frequencies_.begin(), frequencies_.end(), 0.0);
  for (double& frequency : frequencies_) frequency /= sum;

  // pi^1/2 Q pi^-1/2, which is symmetric because the model is reversible.
  std::vector<double> symmetric(std::size_t{kBases} * kBases, 0.0);
  std::size_t pair = 0;
  double mean_rate = 0;
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = i + 1; j < kBases; ++j) {
      const double rate = rates.exchangeabilities[pair++];
      const double root = rate * std::sqrt(frequencies_[i] * frequencies_[j]);
      symmetric[i * kBases + j] = symmetric[j * kBases + i] = root;
      symmetric[i * kBases + i] -= rate * frequencies_[j];
      symmetric[j * kBases + j] -= rate * frequencies_[i];
      mean_rate += 2 * rate * frequencies_[i] * frequencies_[j];
    }
  }
  const Eigenpairs pairs = symmetric_eigenpairs(kBases, std::move(symmetric));
  for (std::size_t k = 0; k < kBases; ++k) {
    // The largest eigenvalue is 0, apart from rounding.
    values_[k] = k == 0 ? 0 : std::min(pairs.values[k] / mean_rate, 0.0);
    for (std::size_t i = 0; i < kBases; ++i) {
      const double root = std::sqrt(frequencies_[i]);
      left_[i][k] = pairs.vectors[k * kBases + i] / root;
      right_[k][i] = pairs.vectors[k * kBases + i] * root;
    }
  }

  if (rates.invariant > 0) classes_.push_back({0, rates.invariant});
  const double varying = 1 - rates.invariant;
  const auto shape = rates.alpha ? gamma_rates(*rates.alpha, rates.n_rates) : std::vector{1.0};
  for (const double rate : shape) {
    classes_.push_back({rates.rate * rate / varying, varying / static_cast<double>(shape.size())});
  }
}

// I + (P(t) - I), the second term from expm1(), which keeps the digits of short branches.
Transitions SubstitutionModel::transitions(double length) const {
  std::array<double, kBases> growth;
  for (std::size_t k = 0; k < kBases; ++k) growth[k] = std::expm1(values_[k] * length);
  Transitions result{};
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = 0; j < kBases; ++j) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = 0; k < kBases; ++k) sum += left_[i][k] * growth[k] * right_[k][j];
      result[i][j] = std::max(sum, 0.0);
    }
  }
  return result;
}

}  // namespace ancify
