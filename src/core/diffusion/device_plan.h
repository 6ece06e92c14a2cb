// A plan in a device's memory, and how a team of threads does it. Written once: a team is a block
// of a GPU's threads, or the host that launches a kernel for each operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/diffusion/device_ops.h"

namespace ancify::diffusion {

enum class EventKind { kEquilibrium, kEpoch, kNewPopulation, kPulse, kRemoval, kReordering };

struct DeviceEvent {
  EventKind kind;
  int population;
  double shares[kMostPopulations];
  int order[kMostPopulations];
  bool frozen[kMostPopulations];
  std::int64_t first_step;
  std::int64_t end_step;
};

struct DevicePlan {
  GridView grid;
  const DeviceEvent* events;
  std::size_t n_events;
  const TimeStep* steps;
  const double* equilibrium;
  // Of as many values as the most populations have: the density, and pivots or the next density.
  double* density;
  double* other;
  double* systems;  // 5 rows for each population
  // What comes out: samples of each population, or where there are none the density itself.
  const double* weights;  // of all populations, one after the other
  int samples;
  std::size_t numbers[kMostPopulations];
  double* output;
};

// The plan's arrays may be on the device alone: only an operation reads them.
ANCIFY_HOST_DEVICE inline SweepOp sweep_of(const DevicePlan& plan, const TimeStep& step,
                                           int populations, int axis) {
  SweepOp sweep = {};
  sweep.grid = plan.grid;
  sweep.density = plan.density;
  sweep.pivots = plan.other;
  sweep.rows = rows_in(plan.systems, plan.grid.points, axis);
  sweep.populations = populations;
  sweep.axis = axis;
  sweep.length = step.length;
  sweep.theta = step.theta;
  sweep.size = step.size[axis];
  for (int j = 0; j < populations; ++j) sweep.rates[j] = j == axis ? 0 : step.migration[axis][j];
  return sweep;
}

// What a team does: team.for_each(op) is op(0), ..., op(op.n() - 1), done when it returns or in any
// case before what comes next; team.look() is called now and then, and may throw.
template <class Team>
ANCIFY_HOST_DEVICE void do_step(const Team& team, const DevicePlan& plan, const DeviceEvent& epoch,
                                const TimeStep& step, int populations) {
  team.for_each(AssembleOp{plan.grid, step, populations, plan.systems});
  for (std::int64_t i = 0; i < step.times; ++i) {
    team.look();
    bool is_first = true;
    for (int axis = 0; axis < populations; ++axis) {
      if (epoch.frozen[axis]) continue;
      SweepOp sweep = sweep_of(plan, step, populations, axis);
      for (int k = 0; k < populations; ++k) sweep.mutates[k] = is_first && !epoch.frozen[k];
      is_first = false;
      team.for_each(sweep);
    }
  }
}

// From the plan's density to the next one.
template <class Team>
ANCIFY_HOST_DEVICE void do_transition(const Team& team, const DevicePlan& plan,
                                      const DeviceEvent& event, int populations) {
  const auto fill = [&](double* shares) {
    for (int k = 0; k < kMostPopulations; ++k) shares[k] = event.shares[k];
  };
  if (event.kind == EventKind::kNewPopulation) {
    NewPopulationOp op = {plan.grid, plan.density, plan.other, populations, {}};
    fill(op.shares);
    team.for_each(op);
  } else if (event.kind == EventKind::kPulse) {
    PulseOp op = {plan.grid, plan.density, plan.other, populations, event.population, {}};
    fill(op.shares);
    team.for_each(op);
  } else if (event.kind == EventKind::kRemoval) {
    team.for_each(RemovalOp{plan.grid, plan.density, plan.other, populations, event.population});
  } else {
    ReorderOp op = {plan.grid.points, plan.density, plan.other, populations, {}};
    for (int k = 0; k < kMostPopulations; ++k) op.order[k] = event.order[k];
    team.for_each(op);
  }
}

ANCIFY_HOST_DEVICE inline int populations_after(const DeviceEvent& event, int before) {
  switch (event.kind) {
    case EventKind::kEquilibrium:
      return 1;
    case EventKind::kNewPopulation:
      return before + 1;
    case EventKind::kRemoval:
      return before - 1;
    default:
      return before;
  }
}

// The last population first, as sample() has it.
template <class Team>
ANCIFY_HOST_DEVICE void do_samples(const Team& team, const DevicePlan& plan, int populations) {
  const auto points = static_cast<std::size_t>(plan.grid.points);
  std::size_t outer = power(plan.grid.points, populations);
  if (plan.samples == 0) {
    team.for_each(CopyOp{plan.density, plan.output, outer});
    return;
  }
  const double* weights = plan.weights;
  for (int k = 0; k < plan.samples; ++k) weights += points * plan.numbers[k];
  const double* from = plan.density;
  double* to = plan.other;
  std::size_t inner = 1;
  for (int k = plan.samples; k-- > 0;) {
    outer /= points;
    weights -= points * plan.numbers[k];
    if (k == 0) to = plan.output;
    team.for_each(SampleOp{from, to, weights, outer, inner, points, plan.numbers[k]});
    inner *= plan.numbers[k];
    from = to;
    to = to == plan.other ? plan.density : plan.other;
  }
}

template <class Team>
ANCIFY_HOST_DEVICE void do_plan(const Team& team, DevicePlan plan) {
  int populations = 0;
  for (std::size_t e = 0; e < plan.n_events; ++e) {
    const DeviceEvent& event = plan.events[e];
    if (event.kind == EventKind::kEpoch) {
      for (std::int64_t i = event.first_step; i < event.end_step; ++i) {
        do_step(team, plan, event, plan.steps[i], populations);
      }
      continue;
    }
    if (event.kind == EventKind::kEquilibrium) {
      team.for_each(
          CopyOp{plan.equilibrium, plan.density, static_cast<std::size_t>(plan.grid.points)});
    } else {
      do_transition(team, plan, event, populations);
      double* const density = plan.other;
      plan.other = plan.density;
      plan.density = density;
    }
    populations = populations_after(event, populations);
  }
  do_samples(team, plan, populations);
}

}  // namespace ancify::diffusion
