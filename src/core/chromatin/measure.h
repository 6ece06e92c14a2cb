// Distances between the points of structures.
#pragma once

#include <cstdint>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// `coordinates`: points x 3 x cells, the point first; a point with a NaN is absent. `maps`: pairs x
// cells, where pairs of absent points become NaN.
void measure_maps(std::int64_t points, std::int64_t cells, const double* coordinates, double* maps,
                  JobControl& control, int threads);

}  // namespace ancify::chromatin
