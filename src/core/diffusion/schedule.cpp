// Time steps: dt = fineness / max over i of (1 / (4 nu_i), sum over j of m_ij, |selection's part of
// M_i| at x = 1/2 and at x = 1/4), the rule of dadi (Gutenkunst and others 2009, PLoS Genet.
// 5:e1000695). Implicit steps are stable at any length, and strong selection soon balances
// mutation, so that longer steps have small errors.
#include "core/diffusion/schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>

#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

constexpr std::int64_t kMostSteps = 5'000'000;
// The largest number of distinct consecutive steps, all of which are kept in memory.
constexpr std::size_t kMostKept = 1'000'000;

std::string as_text(double x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

[[noreturn]] void refuse(const std::string& what, double value, double time,
                         const std::string& must_be) {
  throw InputError(what + " is " + as_text(value) + " at time " + as_text(time) +
                   " of its epoch: it must be " + must_be);
}

std::string population_name(int population) {
  return "population " + std::to_string(population + 1);
}

double not_negative(double value, const std::string& what, double time) {
  if (!std::isfinite(value) || value < 0) refuse(what, value, time, "finite and not below 0");
  return value;
}

double finite(double value, const std::string& what, double time) {
  if (!std::isfinite(value)) refuse(what, value, time, "finite");
  return value;
}

TimeStep parameters_at(const Epoch& epoch, double time) {
  TimeStep step = {};
  const int populations = epoch.populations();
  step.theta = not_negative(epoch.theta(time), "theta", time);
  for (int i = 0; i < populations; ++i) {
    step.size[i] = epoch.size[i](time);
    if (!std::isfinite(step.size[i]) || step.size[i] <= 0) {
      refuse("the size of " + population_name(i), step.size[i], time, "finite and above 0");
    }
    step.selection[i] =
        finite(epoch.selection[i](time), "selection in " + population_name(i), time);
    step.dominance[i] =
        finite(epoch.dominance[i](time), "dominance in " + population_name(i), time);
    for (int j = 0; j < populations; ++j) {
      if (i == j) continue;
      const double rate = epoch.migration[i * populations + j](time);
      step.migration[i][j] = not_negative(
          rate, "migration into " + population_name(i) + " from " + population_name(j), time);
      if (rate > 0 && (epoch.frozen[i] != 0 || epoch.frozen[j] != 0)) {
        throw InputError(population_name(epoch.frozen[i] != 0 ? i : j) +
                         " is frozen, so there can be no migration into or from it");
      }
    }
  }
  return step;
}

// The shortest time scale of drift, migration and selection in any population.
double time_scale(const TimeStep& at, int populations, double strongest) {
  double fastest = 0;
  for (int i = 0; i < populations; ++i) {
    double migration = 0;
    for (int j = 0; j < populations; ++j) migration += at.migration[i][j];
    const double h = at.dominance[i];
    const double selection =
        std::min(std::abs(at.selection[i]), strongest) * 2 *
        std::max(std::abs(h + (1 - 2 * h) / 2) / 4, std::abs(h + (1 - 2 * h) / 4) * 3 / 16);
    fastest = std::max({fastest, 0.25 / at.size[i], migration, selection});
  }
  return 1 / fastest;
}

// The length of the step that begins at `time`, with the parameters `now`.
double wanted_length(const Epoch& epoch, const StepRule& rule, const TimeStep& now, double time) {
  const auto limit = [&](const TimeStep& at) {
    return rule.fineness * time_scale(at, epoch.populations(), rule.strongest);
  };
  double length = limit(now);
  while (rule.looks_ahead) {
    const double within = std::min(length, epoch.end - time);
    const double shortest = std::min(limit(parameters_at(epoch, time + within / 2)),
                                     limit(parameters_at(epoch, time + within)));
    if (within <= shortest) break;
    length = std::max(within / 2, shortest);
  }
  return length;
}

bool is_same(const TimeStep& a, const TimeStep& b) {
  const auto equal = [](const double* x, const double* y, std::size_t n) {
    return std::equal(x, x + n, y);
  };
  return a.length == b.length && a.theta == b.theta && equal(a.size, b.size, kMostPopulations) &&
         equal(a.migration[0], b.migration[0], std::size_t{kMostPopulations} * kMostPopulations) &&
         equal(a.selection, b.selection, kMostPopulations) &&
         equal(a.dominance, b.dominance, kMostPopulations);
}

void append(std::vector<TimeStep>& steps, const TimeStep& step) {
  if (!steps.empty() && is_same(steps.back(), step)) {
    ++steps.back().times;
  } else {
    steps.push_back(step);
    steps.back().times = 1;
  }
}

Schedule without_steps(const Epoch& epoch) {
  Schedule schedule = {epoch.populations(), epoch.frozen, epoch.mutates, {}};
  schedule.mutates.resize(schedule.frozen.size(), 1);
  for (std::size_t k = 0; k < schedule.frozen.size(); ++k) {
    if (schedule.frozen[k] != 0) schedule.mutates[k] = 0;
  }
  return schedule;
}

}  // namespace

std::int64_t Schedule::number_of_steps() const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0},
                         [](std::int64_t n, const TimeStep& step) { return n + step.times; });
}

Schedule make_schedule(const Epoch& epoch, const StepRule& rule) {
  Schedule schedule = without_steps(epoch);
  double time = epoch.start;
  std::int64_t done = 0;
  TimeStep now = parameters_at(epoch, time);
  while (time < epoch.end) {
    const double left = epoch.end - time;
    const double wanted = wanted_length(epoch, rule, now, time);
    const double length = std::min(wanted, left);
    for (int part = 1; part <= rule.parts; ++part) {
      now = parameters_at(epoch, time + length * part / rule.parts);
      now.length = length / rule.parts;
      append(schedule.steps, now);
    }
    done += rule.parts;
    time = wanted < left ? time + length : epoch.end;
    if (done > kMostSteps || schedule.steps.size() > kMostKept) {
      throw InputError("the epoch from " + as_text(epoch.start) + " to " + as_text(epoch.end) +
                       " needs more than " + std::to_string(done - rule.parts) +
                       " time steps (time " + as_text(time) +
                       " is reached): shorten it, enlarge sizes, or lower rates");
    }
  }
  return schedule;
}

Schedule middle_steps(const Epoch& epoch, int steps) {
  Schedule schedule = without_steps(epoch);
  const double duration = epoch.end - epoch.start;
  if (duration == 0) return schedule;
  // The remaining time after this share of the steps.
  const auto left = [=](double share) { return duration * std::pow(1 - share, 4); };
  const auto step_at = [&](double time) {
    TimeStep step = parameters_at(epoch, time);
    step.times = 1;
    step.length = duration;
    return step;
  };
  const TimeStep start = step_at(epoch.start);
  bool changes = !is_same(start, step_at(epoch.end));
  for (int i = 0; i < steps; ++i) {
    schedule.steps.push_back(step_at(epoch.end - left((i + 0.5) / steps)));
    changes = changes || !is_same(start, schedule.steps.back());
  }
  if (!changes) {
    schedule.steps.resize(1);
    return schedule;
  }
  for (int i = 0; i < steps; ++i) {
    schedule.steps[static_cast<std::size_t>(i)].length =
        left(static_cast<double>(i) / steps) - left((i + 1.0) / steps);
  }
  return schedule;
}

namespace {

// The step whose rates are the mean of two steps' with these weights.
TimeStep averaged(const TimeStep& a, double of_a, const TimeStep& b, double of_b, int populations) {
  TimeStep step = a;
  step.theta = of_a * a.theta + of_b * b.theta;
  for (int i = 0; i < populations; ++i) {
    step.size[i] = 1 / (of_a / a.size[i] + of_b / b.size[i]);
    step.selection[i] = of_a * a.selection[i] + of_b * b.selection[i];
    for (int j = 0; j < populations; ++j) {
      step.migration[i][j] = of_a * a.migration[i][j] + of_b * b.migration[i][j];
    }
  }
  return step;
}

}  // namespace

Schedule averaged_steps(const Epoch& epoch, int parts) {
  Schedule schedule = without_steps(epoch);
  const double length = (epoch.end - epoch.start) / parts;
  if (length == 0) return schedule;
  const double node = std::sqrt(3) / 6;
  const double near = 0.5 + 2 * node;
  for (int part = 0; part < parts; ++part) {
    const double middle = epoch.start + (part + 0.5) * length;
    const TimeStep early = parameters_at(epoch, middle - node * length);
    const TimeStep late = parameters_at(epoch, middle + node * length);
    for (const double weight : {near, 1 - near}) {
      schedule.steps.push_back(averaged(early, weight, late, 1 - weight, epoch.populations()));
      schedule.steps.back().length = length / 2;
      schedule.steps.back().times = 1;
    }
  }
  const TimeStep& first = schedule.steps.front();
  if (std::all_of(schedule.steps.begin(), schedule.steps.end(),
                  [&](const TimeStep& step) { return is_same(step, first); })) {
    schedule.steps.resize(1);
    schedule.steps.front().times = 2 * static_cast<std::int64_t>(parts);
  }
  return schedule;
}

}  // namespace ancify::diffusion
