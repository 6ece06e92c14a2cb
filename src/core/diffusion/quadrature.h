// Numerical integration by the Gauss-Legendre rule.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::diffusion {

// n nodes between -1 and 1, and their weights; exact for polynomials up to degree 2 n - 1.
struct GaussRule {
  explicit GaussRule(int n);

  // The integral of f(x) over x between two bounds.
  template <class Function>
  double integrate(const Function& f, double from, double to) const {
    const double half = (to - from) / 2;
    double sum = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      sum += weights[i] * f(from + half * (1 + nodes[i]));
    }
    return half * sum;
  }

  std::vector<double> nodes;
  std::vector<double> weights;
};

}  // namespace ancify::diffusion
