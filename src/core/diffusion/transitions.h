// Applies transitions to a density, on the CPU and on devices.
#pragma once

#include "core/diffusion/density.h"
#include "core/diffusion/device_ops.h"
#include "core/diffusion/model.h"

namespace ancify::diffusion {

// The number of populations after a transition.
ANCIFY_HOST_DEVICE inline int populations_after(const Transition& transition, int before) {
  switch (transition.kind) {
    case Transition::Kind::kNewPopulation:
      return before + 1;
    case Transition::Kind::kRemoval:
      return before - 1;
    default:
      return before;
  }
}

// Calls team.for_each(op) with the transition's operation, which writes the next density to `to`.
template <class Team>
ANCIFY_HOST_DEVICE void do_transition(const Team& team, const GridView& grid, const double* from,
                                      double* to, int populations, const Transition& transition) {
  const auto fill = [&](double* shares) {
    for (int k = 0; k < kMostPopulations; ++k) shares[k] = transition.shares[k];
  };
  switch (transition.kind) {
    case Transition::Kind::kNewPopulation: {
      NewPopulationOp op = {grid, from, to, populations, {}};
      fill(op.shares);
      team.for_each(op);
      return;
    }
    case Transition::Kind::kPulse: {
      PulseOp op = {grid, from, to, populations, transition.population, {}};
      fill(op.shares);
      team.for_each(op);
      return;
    }
    case Transition::Kind::kRemoval:
      team.for_each(RemovalOp{grid, from, to, populations, transition.population});
      return;
    case Transition::Kind::kReordering: {
      ReorderOp op = {grid.points, from, to, populations, {}};
      for (int k = 0; k < kMostPopulations; ++k) op.order[k] = transition.order[k];
      team.for_each(op);
    }
  }
}

// The density after a transition. InputError if it has too many values.
Density after(const Density& density, const Transition& transition);

}  // namespace ancify::diffusion
