// With s = 2 x - 1 and Gegenbauer's polynomials C of parameter 3/2, orthogonal with weight x (1 -
// x):
//   (2 k - 1) s g_k = (k + 1) g_(k+1) + (k - 2) g_(k-1), k > 1
//   x g_1 = g_2 + g_1
//   P_k = P_(k-2) + 2 (2 k - 1) g_k
//   g_k = -2 x (1 - x) C_(k-2)(s) / (k (k - 1)), k > 1
// Lukic, Hey and Chen (2011) Theoretical Population Biology 79:203.
#include "core/moments/basis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/diffusion/quadrature.h"

namespace ancify::moments {

namespace {

// Adds a line's moments to another line of this length. Outside the set, moments count as 0.
void add_line(const DegreeSet& set, int line, const double* in, double factor, int length,
              double* out) {
  if (line < 0 || factor == 0) return;
  const double* const values = in + set.first(line);
  const int n = std::min(length, set.length(line));
  for (int a = 0; a < n; ++a) out[a] += factor * values[a];
}

void add_along_line(const Recurrence& recurrence, double weight, const double* in, int length,
                    double* out) {
  const double* const above = recurrence.above.data();
  const double* const same = recurrence.same.data();
  const double* const below = recurrence.below.data();
  out[0] += weight * same[0] * in[0];
  for (int a = 1; a < length; ++a) {
    out[a] += weight * (same[a] * in[a] + below[a] * in[a - 1]);
  }
  for (int a = 0; a + 1 < length; ++a) out[a] += weight * above[a] * in[a + 1];
}

}  // namespace

Recurrence integral_recurrence(int degree) {
  Recurrence result;
  for (int k = 0; k <= degree; ++k) {
    result.above.push_back(k < 2 ? 1 : (k + 1) / (2.0 * (2 * k - 1)));
    result.same.push_back(k == 0 ? 0 : k == 1 ? 1 : 0.5);
    result.below.push_back(k < 2 ? 0 : (k - 2) / (2.0 * (2 * k - 1)));
  }
  return result;
}

Recurrence legendre_recurrence(int degree) {
  Recurrence result;
  for (int k = 0; k <= degree; ++k) {
    result.above.push_back((k + 1) / (2.0 * (2 * k + 1)));
    result.same.push_back(0.5);
    result.below.push_back(k / (2.0 * (2 * k + 1)));
  }
  return result;
}

void add_times_frequency(const DegreeSet& set, int population, const Recurrence& recurrence,
                         double weight, const double* in, double* out) {
  const bool along = population + 1 == set.populations();
  for (int line = 0; line < set.lines(); ++line) {
    double* const to = out + set.first(line);
    const int length = set.length(line);
    if (along) {
      add_along_line(recurrence, weight, in + set.first(line), length, to);
      continue;
    }
    const auto k = static_cast<std::size_t>(set.degree(line, population));
    const auto add = [&](int from, double factor) {
      add_line(set, from, in, weight * factor, length, to);
    };
    add(set.above(line, population), recurrence.above[k]);
    add(line, recurrence.same[k]);
    add(set.below(line, population), recurrence.below[k]);
  }
}

void legendre_moments(const DegreeSet& set, int population, const double* in, double* out) {
  const bool along = population + 1 == set.populations();
  for (int line = 0; line < set.lines(); ++line) {
    const double* const from = in + set.first(line);
    double* const to = out + set.first(line);
    const int length = set.length(line);
    if (along) {
      for (int a = 0; a < length; ++a) {
        to[a] = a == 0   ? from[0]
                : a == 1 ? 2 * from[1] - from[0]
                         : to[a - 2] + 2 * (2 * a - 1) * from[a];
      }
      continue;
    }
    const int k = set.degree(line, population);
    std::transform(from, from + length, to,
                   [=](double x) { return k == 0 ? x : 2 * (2 * k - 1) * x; });
    if (k == 0) continue;
    const int below = set.below(line, population);
    if (k == 1) {
      add_line(set, below, in, -1, length, to);
    } else {
      add_line(set, set.below(below, population), out, 1, length, to);
    }
  }
}

std::vector<double> sample_factors(int n) {
  const auto size = static_cast<std::size_t>(n) + 1;
  std::vector<double> factors(size * size);
  const auto at = [&](int d, int k) -> double& {
    return factors[static_cast<std::size_t>(d) * size + static_cast<std::size_t>(k)];
  };
  // The values at 0 and 1, of 1 - x and x
  at(0, 0) += 1;
  at(0, 1) -= 1;
  at(n, 1) += 1;
  const diffusion::GaussRule rule(n + 1);
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double s = rule.nodes[i];
    const double x = (1 + s) / 2;
    std::vector<double> gegenbauer = {1, 3 * s};
    for (int k = 2; k <= n; ++k) {
      const auto j = static_cast<std::size_t>(k);
      gegenbauer.push_back(((2 * k + 1) * s * gegenbauer[j - 1] - (k + 1) * gegenbauer[j - 2]) / k);
    }
    for (int d = 0; d <= n; ++d) {
      double p = std::exp(std::lgamma(n + 1) - std::lgamma(d + 1) - std::lgamma(n - d + 1) +
                          d * std::log(x) + (n - d) * std::log1p(-x));
      if (d == 0) p -= 1 - x;
      if (d == n) p -= x;
      for (int k = 2; k <= n; ++k) {
        at(d, k) -= (2 * k - 1) * rule.weights[i] * p * gegenbauer[static_cast<std::size_t>(k) - 2];
      }
    }
  }
  return factors;
}

}  // namespace ancify::moments
