// Polynomials g_0 = 1 and g_k(x) = the integral of the Legendre polynomial P_(k-1) from 0 to x.
// They are eigenfunctions of drift: x (1 - x) g_k'' = -k (k - 1) g_k; and g_k' = P_(k-1).
#pragma once

#include <vector>

#include "core/moments/degree_set.h"

namespace ancify::moments {

// x p_k = above[k] p_(k+1) + same[k] p_k + below[k] p_(k-1), for polynomials p_k of degree k.
struct Recurrence {
  std::vector<double> above;
  std::vector<double> same;
  std::vector<double> below;
};

// The recurrences of g_k and of Legendre polynomials on [0, 1], for degrees up to `degree`.
Recurrence integral_recurrence(int degree);
Recurrence legendre_recurrence(int degree);

// Adds `weight` times the moments of x p to `out`, where x is the frequency in a population and p
// has the recurrence in it. Moments of the highest degrees are incomplete: terms outside the set
// count as 0.
void add_times_frequency(const DegreeSet& set, int population, const Recurrence& recurrence,
                         double weight, const double* in, double* out);

// Moments of P_k instead of g_k in a population.
void legendre_moments(const DegreeSet& set, int population, const double* in, double* out);

// The coefficients of g_0, ..., g_n in the probability choose(n, d) x^d (1 - x)^(n - d), a row for
// each count d of derived alleles from 0 to n.
std::vector<double> sample_factors(int n);

}  // namespace ancify::moments
