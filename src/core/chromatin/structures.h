// Coordinates of points from their distances.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// Majorisation ends after this number of steps, or when a step lowers the stress by less than this
// share. Zero steps give classical scaling.
struct StructureSettings {
  int iterations;
  double tolerance;
};

struct Structure {
  // Points x 3, the point first, along the principal axes. NaN: a point outside the largest
  // connected component.
  std::vector<double> coordinates;
  // The sum of squared errors of the observed distances before each step and at the end.
  std::vector<double> stress;
  double squares = 0;  // the sum of the squared distances
};

// The structure of one map. Distances must be finite and non-negative, or NaN.
Structure fit_structure(std::int64_t points, const double* map, const StructureSettings& settings);

// Structures of many maps. `coordinates`: points x 3 x cells. `stress`: the root of the final
// stress over the sum of squares. `steps`: steps of each cell.
void fit_structures(std::int64_t points, std::int64_t cells, const double* maps,
                    const StructureSettings& settings, double* coordinates, double* stress,
                    int* steps, JobControl& control, int threads);

}  // namespace ancify::chromatin
