// Gauss-Legendre rule: the nodes are the roots of the Legendre polynomial P_n, found by Newton's
// method; the weights are 2 / ((1 - x^2) P_n'(x)^2) (Press and others, Numerical Recipes).
#include "core/diffusion/quadrature.h"

#include <cmath>

namespace ancify::diffusion {

namespace {

constexpr double kPi = 3.14159265358979323846;

// A Legendre polynomial and its derivative.
struct Legendre {
  double value;
  double slope;
};

Legendre legendre(int n, double x) {
  double before = 1;
  double value = x;
  for (int k = 2; k <= n; ++k) {
    const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  return {value, n * (before - x * value) / (1 - x * x)};
}

}  // namespace

GaussRule::GaussRule(int n) {
  for (int i = 0; i < n; ++i) {
    // Newton's method from Tricomi's approximation, which is close enough for any n.
    double x = -std::cos(kPi * (i + 0.75) / (n + 0.5));
    Legendre at = legendre(n, x);
    for (int round = 0; round < 6; ++round) {
      x -= at.value / at.slope;
      at = legendre(n, x);
    }
    nodes.push_back(x);
    weights.push_back(2 / ((1 - x * x) * at.slope * at.slope));
  }
}

}  // namespace ancify::diffusion
