// A plan in a device's memory, and how a team of threads does it. Written once: a team is a block
// of a GPU's threads, or the host that launches a kernel for each operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/diffusion/device_ops.h"
#include "core/diffusion/transitions.h"

namespace ancify::diffusion {

// A block's, where blocks of a GPU's threads do plans.
constexpr unsigned kThreadsOfAPlan = 256;

struct DeviceEvent {
  enum class Kind { kEquilibrium, kEpoch, kTransition };
  Kind kind;
  Transition transition;
  bool frozen[kMostPopulations];
  std::int64_t end_step;  // of those that the plan has, one epoch's after the other
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
  // How far it has come: the next event and step, how often that was done, and of how many
  // populations the density is.
  std::size_t next_event;
  std::int64_t next_step;
  std::int64_t times_done;
  int populations;
};

// The plan's arrays may be on the device alone: only an operation reads them.
ANCIFY_HOST_DEVICE inline SweepOp sweep_of(const DevicePlan& plan, const TimeStep& step, int axis) {
  SweepOp sweep = {};
  sweep.grid = plan.grid;
  sweep.density = plan.density;
  sweep.pivots = plan.other;
  sweep.rows = rows_in(plan.systems, plan.grid.points, axis);
  sweep.populations = plan.populations;
  sweep.axis = axis;
  sweep.length = step.length;
  sweep.theta = step.theta;
  sweep.size = step.size[axis];
  for (int j = 0; j < plan.populations; ++j) {
    sweep.rates[j] = j == axis ? 0 : step.migration[axis][j];
  }
  return sweep;
}

// What a team does: team.for_each(op) is op(0), ..., op(op.n() - 1), done when it returns or in any
// case before what comes next; team.look() is called now and then, and may throw.
template <class Team>
ANCIFY_HOST_DEVICE void do_step(const Team& team, const DevicePlan& plan, const DeviceEvent& epoch,
                                const TimeStep& step, std::int64_t times) {
  team.for_each(AssembleOp{plan.grid, step, plan.populations, plan.systems});
  for (std::int64_t i = 0; i < times; ++i) {
    team.look();
    bool is_first = true;
    for (int axis = 0; axis < plan.populations; ++axis) {
      if (epoch.frozen[axis]) continue;
      SweepOp sweep = sweep_of(plan, step, axis);
      for (int k = 0; k < plan.populations; ++k) sweep.mutates[k] = is_first && !epoch.frozen[k];
      is_first = false;
      team.for_each(sweep);
    }
  }
}

// At most so many of an epoch's steps that are left; gives how many.
template <class Team>
ANCIFY_HOST_DEVICE std::int64_t do_steps(const Team& team, DevicePlan& plan,
                                         const DeviceEvent& epoch, std::int64_t most) {
  std::int64_t done = 0;
  while (done < most && plan.next_step < epoch.end_step) {
    const TimeStep& step = plan.steps[plan.next_step];
    const std::int64_t left = step.times - plan.times_done;
    const std::int64_t times = left < most - done ? left : most - done;
    do_step(team, plan, epoch, step, times);
    done += times;
    plan.times_done += times;
    if (plan.times_done == step.times) {
      ++plan.next_step;
      plan.times_done = 0;
    }
  }
  return done;
}

// From the plan's density to the next one.
template <class Team>
ANCIFY_HOST_DEVICE void do_transition(const Team& team, DevicePlan& plan,
                                      const Transition& transition) {
  do_transition(team, plan.grid, plan.density, plan.other, plan.populations, transition);
  plan.populations = populations_after(transition, plan.populations);
  double* const density = plan.other;
  plan.other = plan.density;
  plan.density = density;
}

// The last population first, as sample() has it.
template <class Team>
ANCIFY_HOST_DEVICE void do_samples(const Team& team, const DevicePlan& plan) {
  const auto points = static_cast<std::size_t>(plan.grid.points);
  std::size_t outer = power(plan.grid.points, plan.populations);
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

// Does n rounds of what is left of a plan: each time step is one, each other event, and the
// samples.
template <class Team>
ANCIFY_HOST_DEVICE void do_rounds(const Team& team, DevicePlan& plan, std::int64_t n) {
  while (n > 0 && plan.next_event < plan.n_events) {
    const DeviceEvent& event = plan.events[plan.next_event];
    if (event.kind == DeviceEvent::Kind::kEpoch) {
      n -= do_steps(team, plan, event, n);
      if (plan.next_step < event.end_step) return;
    } else {
      if (event.kind == DeviceEvent::Kind::kEquilibrium) {
        team.for_each(
            CopyOp{plan.equilibrium, plan.density, static_cast<std::size_t>(plan.grid.points)});
        plan.populations = 1;
      } else {
        do_transition(team, plan, event.transition);
      }
      --n;
    }
    ++plan.next_event;
  }
  if (n > 0 && plan.next_event == plan.n_events) {
    do_samples(team, plan);
    ++plan.next_event;
  }
}

// A team of one.
struct LoneTeam {
  template <class Op>
  ANCIFY_HOST_DEVICE void for_each(const Op& op) const {
    for (std::size_t i = op.n(); i-- > 0;) op(i);
  }
  ANCIFY_HOST_DEVICE void look() const {}
};

// The next rounds of some plans, each by a team.
struct PlansOp {
  static constexpr const char* kName = "PlansOp";
  DevicePlan* plans;
  std::size_t size;
  std::int64_t rounds;

  ANCIFY_HOST_DEVICE std::size_t n() const { return size; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    do_rounds(LoneTeam(), plans[i], rounds);
  }
};

}  // namespace ancify::diffusion
