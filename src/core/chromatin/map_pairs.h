// The order of pairs of points in a distance map. Of n points, the pair i < j (from 0) has index j
// (j - 1) / 2 + i: the order in which R reads an upper triangle. NaN marks an unobserved pair. Maps
// of several cells are consecutive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

inline std::int64_t pairs_of(std::int64_t points) { return points * (points - 1) / 2; }

// The symmetric matrix of a map, with a zero diagonal.
std::vector<double> square_map(std::int64_t points, const double* map);

// Calls part(cell) for each cell, on all threads. Cells are independent, so the result does not
// depend on the number of threads.
void for_cells(JobControl& control, int threads, std::int64_t cells,
               const std::function<void(std::int64_t cell)>& part);

}  // namespace ancify::chromatin
