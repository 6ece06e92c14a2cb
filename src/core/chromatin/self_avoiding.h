// Self-avoiding chains in a sphere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// A chain of hard balls; neighbours are one unit apart. Centres stay within `radius` of the
// sphere's centre, and at least `diameter` <= 1 apart. `moves`: number of proposed moves.
struct SelfAvoidingModel {
  std::int64_t points;
  double diameter;
  double radius;
  std::int64_t moves;
};

// The radius of the compact chain from which moves start.
double least_radius(std::int64_t points);

// `coordinates`: points x 3 x cells. A cell's chain depends on the seed and its index alone.
// InputError if the sphere is smaller than least_radius().
void self_avoiding_chains(const SelfAvoidingModel& model, std::uint32_t seed, std::int64_t cells,
                          double* coordinates, JobControl& control, int threads);

}  // namespace ancify::chromatin
