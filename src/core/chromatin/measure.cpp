// Computes distances between points.
#include "core/chromatin/measure.h"

#include <cmath>

#include "core/chromatin/map_pairs.h"

namespace ancify::chromatin {

void measure_maps(std::int64_t points, std::int64_t cells, const double* coordinates, double* maps,
                  JobControl& control, int threads) {
  for_cells(control, threads, cells, [&](std::int64_t cell) {
    const double* x = coordinates + cell * 3 * points;
    const double* y = x + points;
    const double* z = y + points;
    double* map = maps + cell * pairs_of(points);
    for (std::int64_t j = 1; j < points; ++j) {
      for (std::int64_t i = 0; i < j; ++i) {
        const double dx = x[i] - x[j];
        const double dy = y[i] - y[j];
        const double dz = z[i] - z[j];
        *map++ = std::sqrt(dx * dx + dy * dy + dz * dz);
      }
    }
  });
}

}  // namespace ancify::chromatin
