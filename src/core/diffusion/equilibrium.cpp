// Equilibrium density: phi(x) = theta nu e^E(x) (integral from x to 1 of e^-E) / (x (1 - x)
// integral from 0 to 1 of e^-E), with E(x) = 4 g h x + 2 g (1 - 2 h) x^2 (Kimura 1964, J. Appl.
// Prob. 1:177).
#include "core/diffusion/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/diffusion/quadrature.h"
#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

constexpr int kNodes = 15;
constexpr int kPieces = 41;
constexpr int kSmallerPieces = 40;
constexpr int kMostHalvings = 12;

// The exponent E(x).
struct Exponent {
  Exponent(double g, double h) : linear(4 * g * h), square(2 * g * (1 - 2 * h)) {}
  double operator()(double x) const { return (linear + square * x) * x; }

  double smallest_from(double from) const {
    double smallest = std::min((*this)(from), (*this)(1));
    if (square > 0) {
      smallest = std::min(smallest, (*this)(std::clamp(-linear / (2 * square), from, 1.0)));
    }
    return smallest;
  }

  double linear;
  double square;
};

// Integrates, and halves the interval until the estimate `whole` changes by at most `error`.
template <class Function>
double refined(const GaussRule& rule, const Function& f, double from, double to, double whole,
               double error, int halvings) {
  const double middle = (from + to) / 2;
  const double left = rule.integrate(f, from, middle);
  const double right = rule.integrate(f, middle, to);
  if (halvings == 0 || std::abs(left + right - whole) <= error) return left + right;
  return refined(rule, f, from, middle, left, error, halvings - 1) +
         refined(rule, f, middle, to, right, error, halvings - 1);
}

// The ends of pieces from here to 1, which shrink towards both ends: under strong selection the
// integral is concentrated near an end.
std::vector<double> pieces_from(double from) {
  std::vector<double> ends;
  for (int i = 0; i <= kPieces; ++i) ends.push_back(from + (1 - from) * i / kPieces);
  for (int i = 1; i <= kSmallerPieces; ++i) {
    const double width = (1 - from) / kPieces * std::ldexp(1, -i);
    ends.push_back(from + width);
    ends.push_back(1 - width);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// The log of the integral of exp(-E) from here to 1. The integral itself may overflow.
double log_integral(const GaussRule& rule, const Exponent& exponent, double from) {
  const double smallest = exponent.smallest_from(from);
  const auto f = [&](double x) { return std::exp(smallest - exponent(x)); };
  const std::vector<double> ends = pieces_from(from);
  std::vector<double> pieces;
  double crude = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    pieces.push_back(rule.integrate(f, ends[i], ends[i + 1]));
    crude += pieces.back();
  }
  // Allow for the rounding of E itself.
  const double size = std::abs(exponent.linear) + std::abs(exponent.square);
  const double error = (1e-15 + 2e-16 * size) * crude;
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    sum += refined(rule, f, ends[i], ends[i + 1], pieces[i], error, kMostHalvings);
  }
  return std::log(sum) - smallest;
}

void check(const Equilibrium& equilibrium) {
  const double numbers[] = {equilibrium.size, equilibrium.theta, equilibrium.selection,
                            equilibrium.dominance};
  if (!std::all_of(std::begin(numbers), std::end(numbers),
                   [](double x) { return std::isfinite(x); }) ||
      equilibrium.size <= 0 || equilibrium.theta < 0) {
    throw InputError(
        "an equilibrium needs size > 0, theta >= 0, and finite selection and dominance");
  }
}

}  // namespace

Density equilibrium_density(const Equilibrium& equilibrium, std::shared_ptr<const Grid> grid) {
  check(equilibrium);
  Density density(std::move(grid), 1);
  const auto& x = density.grid().x;
  const int last = density.points() - 1;
  double* const phi = density.data();
  const double scale = equilibrium.size * equilibrium.theta;
  const double g = equilibrium.selection;
  if (g == 0) {
    for (int k = 1; k <= last; ++k) phi[k] = scale / x[k];
  } else if (equilibrium.dominance == 0.5) {
    for (int k = 1; k < last; ++k) {
      // Below -300 the ratio is exp(2 g x), and computing it could divide infinity by infinity.
      const double share =
          g < -300 ? std::exp(2 * g * x[k]) : std::expm1(-2 * g * (1 - x[k])) / std::expm1(-2 * g);
      phi[k] = scale * share / (x[k] * (1 - x[k]));
    }
    phi[last] = scale * -2 * g / std::expm1(-2 * g);
  } else {
    const GaussRule rule(kNodes);
    const Exponent exponent(g, equilibrium.dominance);
    const double whole = log_integral(rule, exponent, 0);
    for (int k = 1; k < last; ++k) {
      const double log_share = exponent(x[k]) + log_integral(rule, exponent, x[k]) - whole;
      phi[k] = scale * std::exp(log_share) / (x[k] * (1 - x[k]));
    }
    phi[last] = scale * std::exp(-whole);
  }
  phi[0] = phi[1];
  if (!std::all_of(phi, phi + density.size(), [](double x) { return std::isfinite(x); })) {
    throw InputError(
        "the equilibrium density overflows: this selection and dominance keep alleles at "
        "intermediate frequencies too long");
  }
  return density;
}

}  // namespace ancify::diffusion
