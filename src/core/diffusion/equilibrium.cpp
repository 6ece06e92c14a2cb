#include "core/diffusion/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/diffusion/quadrature.h"
#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

constexpr int kNodes = 15;
constexpr int kPieces = 41;
constexpr int kMostHalvings = 40;

// Selection's exponent: the density is exp(E(x)) times the integral from x to 1 of exp(-E), over
// that from 0 and over x (1 - x) (Kimura 1964).
struct Exponent {
  Exponent(double g, double h) : linear(4 * g * h), square(2 * g * (1 - 2 * h)) {}
  double operator()(double x) const { return (linear + square * x) * x; }

  double smallest_from(double from) const {
    double smallest = std::min((*this)(from), (*this)(1));
    if (square > 0)
      smallest = std::min(smallest, (*this)(std::clamp(-linear / (2 * square), from, 1.0)));
    return smallest;
  }

  double linear;
  double square;
};

template <class Function>
double halved_until_exact(const GaussRule& rule, const Function& f, double from, double to,
                          double whole, double error, int halvings) {
  const double middle = (from + to) / 2;
  const double left = rule.integrate(f, from, middle);
  const double right = rule.integrate(f, middle, to);
  if (halvings == 0 || std::abs(left + right - whole) <= error) return left + right;
  return halved_until_exact(rule, f, from, middle, left, error, halvings - 1) +
         halved_until_exact(rule, f, middle, to, right, error, halvings - 1);
}

// log of the integral of exp(-exponent) from here to 1: its largest part may be beyond all doubles
double log_integral(const GaussRule& rule, const Exponent& exponent, double from) {
  const double smallest = exponent.smallest_from(from);
  const auto f = [&](double x) { return std::exp(smallest - exponent(x)); };
  double pieces[kPieces];
  double crude = 0;
  const auto at = [&](int piece) { return from + (1 - from) * piece / kPieces; };
  for (int i = 0; i < kPieces; ++i) {
    pieces[i] = rule.integrate(f, at(i), at(i + 1));
    crude += pieces[i];
  }
  double sum = 0;
  for (int i = 0; i < kPieces; ++i) {
    sum += halved_until_exact(rule, f, at(i), at(i + 1), pieces[i], 1e-15 * crude, kMostHalvings);
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
        "an equilibrium needs a size above 0, a theta not below 0, and numbers for selection and "
        "dominance");
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
      // exp(2 g x) where (1 - exp(-2 g (1 - x))) / (1 - exp(-2 g)) would be infinite by infinite
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
  return density;
}

}  // namespace ancify::diffusion
