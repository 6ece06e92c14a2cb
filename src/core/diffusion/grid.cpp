// Grid points: x_k = (l(u_k) - l(-1)) / (l(1) - l(-1)) for u_k from -1 to 1 in equal steps and l(u)
// = 1 / (1 + e^-8u), the grid of dadi (Gutenkunst and others 2009, PLoS Genet. 5:e1000695).
#include "core/diffusion/grid.h"

#include <cmath>
#include <string>

#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

constexpr int kFewestPoints = 4;
constexpr double kCrowding = 8;

double logistic(double u) { return 1 / (1 + std::exp(-kCrowding * u)); }

}  // namespace

Grid::Grid(int points) {
  if (points < kFewestPoints) {
    throw InputError("the grid has " + std::to_string(points) + " points: it must have at least " +
                     std::to_string(kFewestPoints));
  }
  const double first = logistic(-1);
  const double range = logistic(1) - first;
  for (int k = 0; k < points; ++k) {
    x.push_back((logistic(-1 + 2.0 * k / (points - 1)) - first) / range);
  }
  x.front() = 0;
  x.back() = 1;
  for (int k = 0; k + 1 < points; ++k) {
    width.push_back(x[k + 1] - x[k]);
    middle.push_back((x[k] + x[k + 1]) / 2);
  }
  for (int k = 0; k < points; ++k) {
    const double before = k > 0 ? width[k - 1] : 0;
    const double after = k + 1 < points ? width[k] : 0;
    inverse_weight.push_back(2 / (before + after));
  }
}

}  // namespace ancify::diffusion
