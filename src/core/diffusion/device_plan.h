// A plan in a device's memory, and the algorithm by which a team of threads executes it. A team is
// a block of a GPU, or the host, which launches a kernel for each operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/diffusion/device_ops.h"
#include "core/diffusion/transitions.h"

namespace ancify::diffusion {

// The number of threads in a GPU block that executes a plan.
constexpr unsigned kThreadsOfAPlan = 256;

// An event of a plan: the equilibrium, an epoch or a transition.
struct DeviceEvent {
  enum class Kind { kEquilibrium, kEpoch, kTransition };
  Kind kind;
  Transition transition;
  bool frozen[kMostPopulations];
  bool mutates[kMostPopulations];
  std::int64_t end_step;  // of an epoch: the end of its steps among all steps of the plan
};

// A plan: its input, its workspace, and its progress.
struct DevicePlan {
  GridView grid;
  const DeviceEvent* events;
  std::size_t n_events;
  const TimeStep* steps;
  const double* equilibrium;
  // The density, and workspace for pivots or the next density. Each holds the values at the plan's
  // largest number of populations.
  double* density;
  double* other;
  double* systems;  // 5 rows for each population
  // The output: the spectrum of samples of each population, or the density if samples is 0.
  const double* weights;  // of all populations, one after the other
  int samples;
  std::size_t numbers[kMostPopulations];
  double* output;
  // The progress: the next event and step, the repetitions of this step so far, and the density's
  // number of populations.
  std::size_t next_event;
  std::int64_t next_step;
  std::int64_t times_done;
  int populations;

  // True once sampling is done too. Until then, each call of do_rounds() does at least one
  // operation.
  ANCIFY_HOST_DEVICE bool is_finished() const { return next_event > n_events; }
};

// The sweep of a step along an axis. The plan's arrays may be on the device, so only the operation
// itself may read them.
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

// Repeats a step `times` times: mutations, then a sweep along each axis that is not frozen, in
// order. team.for_each(op) does op(0), ..., op(op.n() - 1) before the next operation begins.
// team.look() is called before each step, and may throw to stop the work.
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
      for (int k = 0; k < plan.populations; ++k) sweep.mutates[k] = is_first && epoch.mutates[k];
      is_first = false;
      team.for_each(sweep);
    }
  }
}

// Does at most `most` of the epoch's remaining steps, and returns the number done.
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

// Computes the plan's next density by a transition, and swaps the two arrays.
template <class Team>
ANCIFY_HOST_DEVICE void do_transition(const Team& team, DevicePlan& plan,
                                      const Transition& transition) {
  do_transition(team, plan.grid, plan.density, plan.other, plan.populations, transition);
  plan.populations = populations_after(transition, plan.populations);
  double* const density = plan.other;
  plan.other = plan.density;
  plan.density = density;
}

// Samples from the density, from the last population to the first, as sample() does.
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

// Does the next n rounds of a plan. A round is a time step, another event, or the final sampling.
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

// A team of one thread.
struct LoneTeam {
  template <class Op>
  ANCIFY_HOST_DEVICE void for_each(const Op& op) const {
    for (std::size_t i = op.n(); i-- > 0;) op(i);
  }
  ANCIFY_HOST_DEVICE void look() const {}
};

// Does the next rounds of several plans, each by a team of its own.
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
