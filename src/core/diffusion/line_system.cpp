// The rows of (1 + dt A) phi_new = phi, a time step along one axis (see assemble_row()). If all
// lines share their rows, also the elimination by the Thomas algorithm.
#include "core/diffusion/line_system.h"

namespace ancify::diffusion {

void LineSystem::assemble(const Grid& grid, const TimeStep& step, int populations, int population) {
  const auto points = grid.x.size();
  for (auto* row : {&lower, &lower_by_inflow, &diagonal, &upper, &upper_by_inflow, &pivot,
                    &lower_pivot, &upper_pivot}) {
    row->assign(points, 0);
  }
  const GridView view = grid.view();
  const double immigration = immigration_of(step, populations, population);
  const SystemRows rows = {lower.data(), lower_by_inflow.data(), diagonal.data(), upper.data(),
                           upper_by_inflow.data()};
  for (int i = 0; i < grid.points(); ++i) {
    assemble_row(view, step, population, immigration, i, rows);
  }
  first_by_inflow = upper_by_inflow.front();
  last_by_inflow = lower_by_inflow.back();
  absorbed = absorbed_in(view, step.length, step.size[population]);

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
