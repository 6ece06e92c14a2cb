// Computes all time steps of an epoch in advance.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The length of time steps: `fineness` times the shortest time scale of drift, migration and
// selection. Each is then cut into `parts` equal steps. Selection coefficients count as at most
// `strongest`. Time scales are taken at a step's beginning. If the rule looks ahead, they are also
// taken in its middle and at its end, so that no step is too long where a population shrinks.
struct StepRule {
  double fineness;
  int parts = 1;
  double strongest = std::numeric_limits<double>::infinity();
  bool looks_ahead = false;
};

// `times` equal consecutive steps, each of this length, with the parameters at its end.
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

  // All steps, including repetitions.
  std::int64_t number_of_steps() const;
};

// The steps of an epoch. InputError for invalid parameters at any step, and for too many steps.
Schedule make_schedule(const Epoch& epoch, const StepRule& rule);

// This many steps, with the parameters at the middle of each; one step if no parameter changes.
// Steps shorten with the fourth power, since fast recombination erases all but the end. InputError
// for invalid parameters.
Schedule middle_steps(const Epoch& epoch, int steps);

// Makes the steps of an epoch.
using Scheduler = std::function<Schedule(const Epoch&)>;

}  // namespace ancify::diffusion
