// Counts triples of points whose distances violate the triangle inequality.
#include "core/chromatin/triangles.h"

#include <cmath>

#include "core/chromatin/map_pairs.h"

namespace ancify::chromatin {

void count_triangles(std::int64_t points, std::int64_t cells, const double* maps, double* broken,
                     double* triples, JobControl& control, int threads) {
  for_cells(control, threads, cells, [&](std::int64_t cell) {
    constexpr double kRounding = 1 + 1e-9;
    const std::vector<double> map = square_map(points, maps + cell * pairs_of(points));
    std::int64_t wrong = 0;
    std::int64_t seen = 0;
    for (std::int64_t i = 0; i < points; ++i) {
      const double* from_i = &map[static_cast<std::size_t>(i * points)];
      for (std::int64_t j = i + 1; j < points; ++j) {
        const double ij = from_i[j];
        if (std::isnan(ij)) continue;
        const double* from_j = &map[static_cast<std::size_t>(j * points)];
        for (std::int64_t k = j + 1; k < points; ++k) {
          // Comparisons with NaN are false. Without branches, the loop is vectorised.
          const double ik = from_i[k];
          const double jk = from_j[k];
          seen += static_cast<std::int64_t>(ik + jk >= 0);
          wrong += static_cast<std::int64_t>(ij > (ik + jk) * kRounding) |
                   static_cast<std::int64_t>(ik > (ij + jk) * kRounding) |
                   static_cast<std::int64_t>(jk > (ij + ik) * kRounding);
        }
      }
    }
    broken[cell] = static_cast<double>(wrong);
    triples[cell] = static_cast<double>(seen);
  });
}

}  // namespace ancify::chromatin
