// Distances that no points can have.
#pragma once

#include <cstdint>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// Counts, for each cell, triples of points with three observed pairs, and triples in which one
// distance exceeds the sum of the others by more than rounding.
void count_triangles(std::int64_t points, std::int64_t cells, const double* maps, double* broken,
                     double* triples, JobControl& control, int threads);

}  // namespace ancify::chromatin
