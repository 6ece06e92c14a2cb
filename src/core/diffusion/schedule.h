// Computes the time steps of an epoch before any of them is done.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/diffusion/model.h"

namespace ancify::diffusion {

// For make_schedule(): the time steps follow any strength of selection.
constexpr double kAnyStrength = std::numeric_limits<double>::infinity();

// `times` equal steps one after the other, each of this length, with the parameters at its end.
struct TimeStep {
  double length;
  std::int64_t times;
  double theta;
  double size[kMostPopulations];
  double migration[kMostPopulations][kMostPopulations];  // into, from
  double selection[kMostPopulations];
  double dominance[kMostPopulations];
};

// The time steps of an epoch. frozen[k] says whether population k is frozen, mutates[k] whether it
// has new mutations.
struct Schedule {
  int populations;
  std::vector<char> frozen;
  std::vector<char> mutates;
  std::vector<TimeStep> steps;

  // All steps, repeated ones included.
  std::int64_t number_of_steps() const;
};

// The steps of an epoch. A step is `fineness` times the shortest time scale of drift, migration and
// selection, by the parameters at its beginning; it is then cut into `parts` equal steps. Selection
// coefficients count as at most `strongest`. InputError for invalid parameters at any step, and for
// too many steps.
Schedule make_schedule(const Epoch& epoch, double fineness, int parts,
                       double strongest = kAnyStrength);

// So many steps, with the parameters in the middle of each; one step if none changes. Steps become
// shorter, with the fourth power, since fast recombination leaves traces of the end alone.
// InputError for invalid parameters.
Schedule middle_steps(const Epoch& epoch, int steps);

// Makes the steps of an epoch.
using Scheduler = std::function<Schedule(const Epoch&)>;

}  // namespace ancify::diffusion
