// The frequencies at which a density is known, the same for all populations.
#pragma once

#include <vector>

#include "core/diffusion/device_ops.h"

namespace ancify::diffusion {

// Denser towards 0 and 1, by a logistic function: 0 and 1 themselves are on it.
struct Grid {
  // InputError below 4 points
  explicit Grid(int points);

  int points() const { return static_cast<int>(x.size()); }
  GridView view() const {
    return {points(), x.data(), width.data(), middle.data(), inverse_weight.data()};
  }
  // The first frequency above 0, which extrapolation takes to 0.
  double smallest() const { return x[1]; }

  std::vector<double> x;
  std::vector<double> width;           // from each point to the next, one fewer
  std::vector<double> middle;          // between each point and the next, one fewer
  std::vector<double> inverse_weight;  // 1 / the trapezoid rule's weights
};

}  // namespace ancify::diffusion
