// The equations of one implicit time step along one population's axis.
#pragma once

#include <vector>

#include "core/diffusion/grid.h"
#include "core/diffusion/schedule.h"

namespace ancify::diffusion {

// Tridiagonal, a line of the grid at a time: row i has lower[i] x[i-1] + diagonal[i] x[i] +
// upper[i] x[i+1] on its left. Of what migrates into the population, sum_j m_j x_j is the line's
// `inflow`, with which lower and upper are linear; inside the line it cancels from the diagonal.
struct LineSystem {
  // Makes it that of a population in this step.
  void assemble(const Grid& grid, const TimeStep& step, int populations, int population);

  double first(double inflow) const { return diagonal.front() + first_by_inflow * inflow; }
  double last(double inflow) const { return diagonal.back() + last_by_inflow * inflow; }

  std::vector<double> lower;
  std::vector<double> lower_by_inflow;
  std::vector<double> diagonal;
  std::vector<double> upper;
  std::vector<double> upper_by_inflow;
  double first_by_inflow;
  double last_by_inflow;
  // More on the diagonal's ends where the allele is lost, or fixed, in all other populations: what
  // is lost or fixed there, is so for good.
  double absorbed;

  // Without inflow all lines have one elimination: x[i] := x[i] pivot[i] - x[i-1] lower_pivot[i],
  // and backwards x[i] -= x[i+1] upper_pivot[i].
  bool has_inflow;
  std::vector<double> pivot;
  std::vector<double> lower_pivot;
  std::vector<double> upper_pivot;
};

}  // namespace ancify::diffusion
