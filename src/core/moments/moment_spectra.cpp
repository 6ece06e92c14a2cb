// The moments <g_a(x)> of all degrees a that the sample needs, from the first event to the last.
// The spectrum is linear in them. A new population whose frequency is z, a mean of others, has
// moments <g_a(x) g_b(z)>, by the recurrence of g_b.
#include "core/moments/moment_spectra.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "core/exec/errors.h"
#include "core/moments/exponential.h"
#include "core/moments/lineage_plan.h"

namespace ancify::moments {

namespace {

struct Moments {
  std::shared_ptr<const DegreeSet> set;
  std::vector<double> values;

  explicit Moments(LineageBounds bounds)
      : set(std::make_shared<DegreeSet>(std::move(bounds))), values(set->size()) {}
};

// A position before an event, and the one after it.
struct Move {
  std::size_t from;
  std::size_t to;
};

// <g_k> of the density nu theta / x. Fixed sites would contribute to the moment of x alone, so this
// moment counts variable sites only.
Moments at_equilibrium(const diffusion::Equilibrium& event, const LineageBounds& bounds) {
  Moments moments(bounds);
  const double scale = event.size * event.theta;
  for (std::size_t k = 1; k < moments.values.size(); ++k) {
    const auto a = static_cast<double>(k);
    moments.values[k] = k == 1 ? scale : (k % 2 == 1 ? 1 : -1) * scale / (a * (a - 1));
  }
  return moments;
}

// The moments of a smaller set.
Moments within(const Moments& moments, const LineageBounds& bounds) {
  Moments result(bounds);
  if (result.values.size() == moments.values.size()) return moments;
  result.set->for_each([&](std::size_t at, const std::vector<int>& degrees) {
    result.values[at] = moments.values[moments.set->position(degrees)];
  });
  return result;
}

// The set has a new population, whose frequency is a mean of the old ones with these shares.
// `moves[b]`: the moments whose degree in the new population is b.
void move_mixed(const Moments& before, const double* shares,
                const std::vector<std::vector<Move>>& moves, Moments& after) {
  const int populations = before.set->populations();
  const std::vector<int>& lineages = before.set->bounds().lineages;
  const Recurrence recurrence =
      integral_recurrence(*std::max_element(lineages.begin(), lineages.end()));
  std::vector<double> lower(before.values.size());
  std::vector<double> now = before.values;
  for (std::size_t b = 0; b < moves.size(); ++b) {
    for (const Move& move : moves[b]) after.values[move.to] = now[move.from];
    std::vector<double> higher(now.size());
    for (int k = 0; k < populations; ++k) {
      if (shares[k] == 0) continue;
      add_times_frequency(*before.set, k, recurrence, shares[k], now.data(), higher.data());
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      higher[i] = (higher[i] - recurrence.same[b] * now[i] - recurrence.below[b] * lower[i]) /
                  recurrence.above[b];
    }
    lower = std::exchange(now, std::move(higher));
  }
}

// Moments with a new population at the position `axis`: in place of an old one, or at the end.
Moments mixed(const Moments& before, const LineageBounds& bounds, const double* shares, int axis) {
  Moments after(bounds);
  const bool replaces = before.set->populations() == bounds.populations();
  std::vector<std::vector<Move>> moves(static_cast<std::size_t>(bounds.of_population(axis)) + 1);
  after.set->for_each([&](std::size_t to, std::vector<int> degrees) {
    const int degree = std::exchange(degrees[static_cast<std::size_t>(axis)], 0);
    if (!replaces) degrees.pop_back();
    moves[static_cast<std::size_t>(degree)].push_back({before.set->position(degrees), to});
  });
  move_mixed(before, shares, moves, after);
  return after;
}

Moments without(const Moments& before, const LineageBounds& bounds, int population) {
  Moments after(bounds);
  after.set->for_each([&](std::size_t to, std::vector<int> degrees) {
    degrees.insert(degrees.begin() + population, 0);
    after.values[to] = before.values[before.set->position(degrees)];
  });
  return after;
}

Moments reordered(const Moments& before, const LineageBounds& bounds, const int* order) {
  Moments after(bounds);
  std::vector<int> old(static_cast<std::size_t>(bounds.populations()));
  after.set->for_each([&](std::size_t to, const std::vector<int>& degrees) {
    for (std::size_t k = 0; k < old.size(); ++k)
      old[static_cast<std::size_t>(order[k])] = degrees[k];
    after.values[to] = before.values[before.set->position(old)];
  });
  return after;
}

// Applies an event of a plan. `bounds`: those after it.
struct Evolution {
  Moments& moments;
  const LineageBounds& bounds;
  const TaskContext& context;

  Moments operator()(const diffusion::Equilibrium& event) const {
    return at_equilibrium(event, bounds);
  }

  Moments operator()(const diffusion::Schedule& schedule) const {
    for (const auto& step : schedule.steps) {
      Generator generator(*moments.set, schedule, step);
      advance(generator, step.length * static_cast<double>(step.times), moments.values, context);
    }
    return within(moments, bounds);
  }

  Moments operator()(const diffusion::Transition& transition) const {
    using Kind = diffusion::Transition::Kind;
    switch (transition.kind) {
      case Kind::kNewPopulation:
        return mixed(moments, bounds, transition.shares, bounds.populations() - 1);
      case Kind::kPulse:
        return mixed(moments, bounds, transition.shares, transition.population);
      case Kind::kRemoval:
        return without(moments, bounds, transition.population);
      case Kind::kReordering:
        break;
    }
    return reordered(moments, bounds, transition.order);
  }
};

void check_neutral(const diffusion::Plan& plan) {
  const auto refuse = [](double selection) {
    if (selection != 0) throw InputError("moments are of neutral models, without selection");
  };
  for (const auto& event : plan) {
    if (const auto* start = std::get_if<diffusion::Equilibrium>(&event)) refuse(start->selection);
    const auto* const schedule = std::get_if<diffusion::Schedule>(&event);
    if (schedule == nullptr) continue;
    for (const auto& step : schedule->steps) {
      std::for_each(step.selection, step.selection + schedule->populations, refuse);
    }
  }
}

// Multiplies the first axis of an array by a matrix whose rows are the new values of this axis, and
// makes it the last one. `columns`: the other axes' size.
std::vector<double> multiplied(const std::vector<double>& array, const std::vector<double>& factors,
                               std::size_t axis) {
  const std::size_t columns = array.size() / axis;
  std::vector<double> result(array.size());
  for (std::size_t d = 0; d < axis; ++d) {
    double* const out = result.data() + d * columns;
    for (std::size_t k = 0; k < axis; ++k) {
      const double factor = factors[d * axis + k];
      for (std::size_t c = 0; c < columns; ++c) out[c] += factor * array[c * axis + k];
    }
  }
  return result;
}

// The array's first population changes fastest.
std::vector<double> spectrum_of(const Moments& moments, const std::vector<int>& sizes) {
  std::size_t cells = 1;
  std::vector<std::size_t> strides;
  for (const int size : sizes) {
    strides.push_back(cells);
    cells *= static_cast<std::size_t>(size) + 1;
  }
  std::vector<double> array(cells);
  moments.set->for_each([&](std::size_t from, const std::vector<int>& degrees) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      to += static_cast<std::size_t>(degrees[k]) * strides[k];
    }
    array[to] = moments.values[from];
  });
  for (const int size : sizes) {
    array = multiplied(array, sample_factors(size), static_cast<std::size_t>(size) + 1);
  }
  return array;
}

}  // namespace

MomentCost cost_of(const diffusion::Plan& plan, const std::vector<int>& sizes) {
  check_neutral(plan);
  const std::vector<LineageBounds> bounds = bounds_of(plan, sizes);
  MomentCost cost = {0, 0};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const double moments = number_of_degrees(bounds[i]);
    cost.moments = std::max(cost.moments, moments);
    if (const auto* schedule = std::get_if<diffusion::Schedule>(&plan[i])) {
      for (const auto& step : schedule->steps) {
        cost.work += moments * applications(spectral_radius(bounds[i], *schedule, step),
                                            step.length * static_cast<double>(step.times));
      }
    }
  }
  return cost;
}

std::vector<double> moment_spectrum(const diffusion::Plan& plan, const std::vector<int>& sizes,
                                    const TaskContext& context) {
  check_neutral(plan);
  const std::vector<LineageBounds> bounds = bounds_of(plan, sizes);
  Moments moments(bounds.front());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    moments = std::visit(Evolution{moments, bounds[i + 1], context}, plan[i]);
  }
  return spectrum_of(moments, sizes);
}

std::vector<std::vector<double>> moment_spectra(const std::vector<diffusion::Plan>& plans,
                                                const std::vector<int>& sizes, int threads,
                                                JobControl& control) {
  std::vector<std::vector<double>> spectra(plans.size());
  const auto n = static_cast<std::int64_t>(plans.size());
  control.expect(n);
  run_tasks(control, threads, n, [&](std::int64_t i, const TaskContext& context) {
    const auto k = static_cast<std::size_t>(i);
    spectra[k] = moment_spectrum(plans[k], sizes, context);
    control.advance(1);
  });
  return spectra;
}

}  // namespace ancify::moments
