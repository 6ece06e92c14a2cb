// Distances that no points can have.
#pragma once

#include <cstdint>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// For each cell, the triples of points whose three pairs are observed, and those of them with one
// distance above the sum of the two others by more than rounding.
void count_triangles(std::int64_t points, std::int64_t cells, const double* maps, double* broken,
                     double* triples, JobControl& control, int threads);

}  // namespace ancify::chromatin
