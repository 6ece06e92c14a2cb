// The grid of allele frequencies on which densities are computed, shared by all populations.
#pragma once

#include <vector>

#include "core/diffusion/device_ops.h"

namespace ancify::diffusion {

// Points from 0 to 1, spaced by a logistic function so that they are denser towards both ends.
struct Grid {
  // InputError for fewer than 4 points.
  explicit Grid(int points);

  int points() const { return static_cast<int>(x.size()); }
  GridView view() const {
    return {points(), x.data(), width.data(), middle.data(), inverse_weight.data()};
  }
  // The first frequency above 0. Extrapolation over grids takes this frequency to 0.
  double smallest() const { return x[1]; }

  std::vector<double> x;
  std::vector<double> width;           // the distance from each point to the next
  std::vector<double> middle;          // halfway from each point to the next
  std::vector<double> inverse_weight;  // 1 / weight of each point in the trapezoid rule
};

}  // namespace ancify::diffusion
