#include "core/diffusion/line_system.h"

namespace ancify::diffusion {

void LineSystem::assemble(const Grid& grid, const TimeStep& step, int populations, int population) {
  const auto k = static_cast<std::size_t>(population);
  const auto points = grid.x.size();
  for (auto* row : {&lower, &lower_by_inflow, &diagonal, &upper, &upper_by_inflow, &pivot,
                    &lower_pivot, &upper_pivot}) {
    row->assign(points, 0);
  }
  double immigration = 0;
  for (int j = 0; j < populations; ++j) {
    if (j != population) immigration += step.migration[k][static_cast<std::size_t>(j)];
  }
  const double h = step.dominance[k];
  // Between two points: half of what selection and migration move, without the inflow.
  const auto moved = [&](double x) {
    return step.selection[k] * (h + (1 - 2 * h) * x) * x * (1 - x) - immigration * x / 2;
  };
  const auto drift = [&](std::size_t i) { return grid.x[i] * (1 - grid.x[i]) / step.size[k] / 2; };

  diagonal.assign(points, 1);
  for (std::size_t i = 0; i + 1 < points; ++i) {
    const double here = step.length * grid.inverse_weight[i];
    const double there = step.length * grid.inverse_weight[i + 1];
    const double up = moved(grid.middle[i]) + drift(i) / grid.width[i];
    const double down = -moved(grid.middle[i]) + drift(i + 1) / grid.width[i];
    diagonal[i] += here * up;
    upper[i] = -here * down;
    upper_by_inflow[i] = here / 2;
    lower[i + 1] = -there * up;
    lower_by_inflow[i + 1] = -there / 2;
    diagonal[i + 1] += there * down;
  }
  first_by_inflow = upper_by_inflow.front();
  last_by_inflow = lower_by_inflow.back();
  absorbed = step.length / step.size[k] / grid.width.front();

  has_inflow = immigration > 0;
  if (has_inflow) return;
  pivot[0] = 1 / diagonal[0];
  for (std::size_t i = 1; i < points; ++i) {
    upper_pivot[i - 1] = upper[i - 1] * pivot[i - 1];
    pivot[i] = 1 / (diagonal[i] - lower[i] * upper_pivot[i - 1]);
    lower_pivot[i] = lower[i] * pivot[i];
  }
}

}  // namespace ancify::diffusion
