// Expands triangles of distances to matrices, and processes cells by threads.
#include "core/chromatin/map_pairs.h"

#include <algorithm>

#include "core/exec/threads.h"

namespace ancify::chromatin {

std::vector<double> square_map(std::int64_t points, const double* map) {
  const auto n = static_cast<std::size_t>(points);
  std::vector<double> square(n * n, 0.0);
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) square[i * n + j] = square[j * n + i] = *map++;
  }
  return square;
}

void for_cells(JobControl& control, int threads, std::int64_t cells,
               const std::function<void(std::int64_t cell)>& part) {
  // Small parts balance the load, as cells differ in their time.
  constexpr std::int64_t kCells = 16;
  control.expect(cells);
  run_tasks(control, threads, (cells + kCells - 1) / kCells,
            [&](std::int64_t index, const TaskContext& context) {
              const std::int64_t end = std::min(cells, (index + 1) * kCells);
              for (std::int64_t cell = index * kCells; cell < end; ++cell) {
                context.throw_if_stopped();
                part(cell);
                control.advance(1);
              }
            });
}

}  // namespace ancify::chromatin
