// The linear system of one implicit time step along one population's axis.
#pragma once

#include <vector>

#include "core/diffusion/grid.h"
#include "core/diffusion/schedule.h"

namespace ancify::diffusion {

// A tridiagonal system for each line of the grid. The left side of row i is lower[i] x[i-1] +
// diagonal[i] x[i] + upper[i] x[i+1]. A line's `inflow` is sum_j m_j x_j over the other populations
// j. It adds `*_by_inflow` times the inflow to lower and upper, and cancels from the diagonal
// except at both ends.
struct LineSystem {
  // Fills the rows for a population in this step.
  void assemble(const Grid& grid, const TimeStep& step, int populations, int population);

  // The first and last element of the diagonal of a line with this inflow.
  double first(double inflow) const { return diagonal.front() + first_by_inflow * inflow; }
  double last(double inflow) const { return diagonal.back() + last_by_inflow * inflow; }

  std::vector<double> lower;
  std::vector<double> lower_by_inflow;
  std::vector<double> diagonal;
  std::vector<double> upper;
  std::vector<double> upper_by_inflow;
  double first_by_inflow;
  double last_by_inflow;
  // The loss at the corners. It adds to the first diagonal element of the line on which all other
  // populations have lost the allele, and to the last element where they have fixed it.
  double absorbed;

  // Without inflow all lines share one elimination. Forwards: x[i] = x[i] pivot[i] - x[i-1]
  // lower_pivot[i]; then backwards: x[i] -= x[i+1] upper_pivot[i].
  bool has_inflow;
  std::vector<double> pivot;
  std::vector<double> lower_pivot;
  std::vector<double> upper_pivot;
};

}  // namespace ancify::diffusion
