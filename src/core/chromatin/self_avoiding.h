// Self-avoiding chains in a sphere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify::chromatin {

// A chain of hard balls whose neighbours are one unit apart. Centres stay within `radius` of the
// sphere's centre, and `diameter` (at most 1) apart. `moves`: moves that are tried.
struct SelfAvoidingModel {
  std::int64_t points;
  double diameter;
  double radius;
  std::int64_t moves;
};

// The radius that the compact chain needs from which moves start.
double least_radius(std::int64_t points);

// `coordinates`: points x 3 x cells. A cell's numbers depend on the seed and its place alone.
// InputError if the sphere is smaller than least_radius().
void self_avoiding_chains(const SelfAvoidingModel& model, std::uint32_t seed, std::int64_t cells,
                          double* coordinates, JobControl& control, int threads);

}  // namespace ancify::chromatin
