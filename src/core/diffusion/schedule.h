// Computes all time steps of an epoch in advance.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The length of time steps: `fineness` times the shortest time scale of drift, migration and
// selection. Each is then cut into `parts` equal steps. Selection coefficients are capped at
// `strongest` in absolute value. Time scales are evaluated at the start of a step. If the rule
// looks ahead, they are also evaluated at its middle and end, so that no step is too long while a
// population shrinks.
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

// Divides an epoch into this many steps, with the parameters at the middle of each; one step if no
// parameter changes. The remaining time falls with the fourth power of the remaining steps, because
// fast recombination erases all but the end of an epoch. InputError for invalid parameters.
Schedule middle_steps(const Epoch& epoch, int steps);

// Divides an epoch into this many equal parts, of two steps each: the fourth-order method of
// averaged generators (commutator-free: Alvermann and Fehske 2011). A step's rates are means of
// the rates at two times, and its size is a mean of reciprocals. One step if no parameter changes.
// InputError for invalid parameters.
Schedule averaged_steps(const Epoch& epoch, int parts);

// Makes the steps of an epoch.
using Scheduler = std::function<Schedule(const Epoch&)>;

}  // namespace ancify::diffusion
