// The time steps of an epoch, known before any is done.
#pragma once

#include <cstdint>
#include <vector>

#include "core/diffusion/model.h"

namespace ancify::diffusion {

// What holds in a step of this length, the parameters at its end, and how many such steps follow
// each other.
struct TimeStep {
  double length;
  std::int64_t times;
  double theta;
  double size[kMostPopulations];
  double migration[kMostPopulations][kMostPopulations];  // into, from
  double selection[kMostPopulations];
  double dominance[kMostPopulations];
};

struct Schedule {
  int populations;
  std::vector<char> frozen;
  std::vector<TimeStep> steps;

  std::int64_t number_of_steps() const;
};

// A step is `fineness` times the shortest time in which drift, migration or selection do what they
// do, by the parameters at its beginning, and is then cut into `parts`. InputError for parameters
// that no population can have at a time of the epoch.
Schedule make_schedule(const Epoch& epoch, double fineness, int parts);

}  // namespace ancify::diffusion
