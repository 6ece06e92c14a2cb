#include "core/diffusion/expected_spectra.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "core/diffusion/equilibrium.h"
#include "core/diffusion/integration.h"
#include "core/diffusion/transitions.h"
#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

std::string some_populations(int n) {
  return std::to_string(n) + (n == 1 ? " population" : " populations");
}

void check_population(int population, int populations) {
  if (population < 0 || population >= populations) {
    throw InputError("there is no population " + std::to_string(population + 1) + " among " +
                     some_populations(populations));
  }
}

void check_shares(const std::vector<double>& shares, int populations) {
  const bool are_shares =
      std::all_of(shares.begin(), shares.end(), [](double x) { return x >= 0 && x <= 1; });
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (static_cast<int>(shares.size()) != populations || !are_shares || std::abs(sum - 1) > 1e-9) {
    throw InputError("shares of ancestry are numbers from 0 to 1 for each of " +
                     some_populations(populations) + ", with the sum 1");
  }
}

void check_counts(const Epoch& epoch, int populations) {
  const auto n = static_cast<std::size_t>(populations);
  if (epoch.size.size() != n || epoch.migration.size() != n * n || epoch.selection.size() != n ||
      epoch.dominance.size() != n || epoch.frozen.size() != n) {
    throw InputError("an epoch is of " + some_populations(epoch.populations()) + ", where there " +
                     (n == 1 ? "is " : "are ") + std::to_string(n));
  }
  if (!std::isfinite(epoch.start) || !std::isfinite(epoch.end) || epoch.end < epoch.start) {
    throw InputError("an epoch lasts " + std::to_string(epoch.end - epoch.start) +
                     " units of time: it can't be less than 0, or without end");
  }
}

// Makes a PlannedEvent of an event, and counts the populations after it.
class Planner {
 public:
  Planner(double fineness, int parts) : fineness_(fineness), parts_(parts) {}

  PlannedEvent operator()(const Equilibrium& event) {
    if (populations_ != 0) throw InputError("an equilibrium can only be a model's first event");
    populations_ = 1;
    return event;
  }
  PlannedEvent operator()(const Epoch& event) {
    check_counts(event, populations_);
    return make_schedule(event, fineness_, parts_);
  }
  PlannedEvent operator()(const Admixture& event) {
    check_shares(event.shares, populations_);
    if (++populations_ > kMostPopulations) {
      throw InputError("there can't be more than " + some_populations(kMostPopulations));
    }
    return event;
  }
  PlannedEvent operator()(const Pulse& event) {
    check_population(event.destination, populations_);
    check_shares(event.shares, populations_);
    return event;
  }
  PlannedEvent operator()(const Removal& event) {
    check_population(event.population, populations_);
    if (--populations_ == 0) throw InputError("the last population can't be removed");
    return event;
  }
  PlannedEvent operator()(const Reordering& event) {
    const std::set<int> all(event.order.begin(), event.order.end());
    if (static_cast<int>(event.order.size()) != populations_ || all.size() != event.order.size() ||
        *all.begin() != 0 || *all.rbegin() != populations_ - 1) {
      throw InputError("an order names each of " + some_populations(populations_) + " once");
    }
    return event;
  }

 private:
  double fineness_;
  int parts_;
  int populations_ = 0;
};

// Does an event to a density.
struct Evolution {
  Density operator()(const Equilibrium& event) const {
    return equilibrium_density(event, density.shared_grid());
  }
  Density operator()(const Schedule& schedule) {
    integrate(density, schedule, level, context);
    return std::move(density);
  }
  Density operator()(const Admixture& event) const {
    return with_new_population(density, event.shares);
  }
  Density operator()(const Pulse& event) const {
    return with_pulse(density, event.destination, event.shares);
  }
  Density operator()(const Removal& event) const {
    return without_population(density, event.population);
  }
  Density operator()(const Reordering& event) const { return reordered(density, event.order); }

  Density& density;
  SimdLevel level;
  const TaskContext& context;
};

std::vector<double> spectrum_of(const Density& density, const Sampling& sampling,
                                const TaskContext& context) {
  if (sampling.kind == Sampling::Kind::kAdmixed) {
    return sample_admixed(density, sampling.sizes, sampling.shares, context);
  }
  return sample(density, weights_of(sampling, density.grid()));
}

}  // namespace

std::vector<SampleWeights> weights_of(const Sampling& sampling, const Grid& grid) {
  std::vector<SampleWeights> weights;
  for (std::size_t k = 0; k < sampling.sizes.size(); ++k) {
    const int size = sampling.sizes[k];
    switch (sampling.kind) {
      case Sampling::Kind::kInbred:
        weights.push_back(inbred_weights(grid, size, sampling.inbreeding[k], sampling.ploidy[k]));
        break;
      case Sampling::Kind::kDirect:
        weights.push_back(direct_weights(grid, size, sampling.ascertained == static_cast<int>(k)));
        break;
      default:
        weights.push_back(analytic_weights(grid, size));
    }
  }
  return weights;
}

Plan plan_model(const Model& model, double fineness, int parts) {
  if (model.empty() || !std::holds_alternative<Equilibrium>(model.front())) {
    throw InputError("a model's first event must be an equilibrium");
  }
  Plan plan;
  Planner planner(fineness, parts);
  for (std::size_t i = 0; i < model.size(); ++i) {
    try {
      plan.push_back(std::visit(planner, model[i]));
    } catch (const InputError& error) {
      throw InputError("event " + std::to_string(i + 1) + ": " + error.what());
    }
  }
  return plan;
}

double work_of(const Plan& plan, int points) {
  double work = 0;
  for (const auto& event : plan) {
    const auto* const schedule = std::get_if<Schedule>(&event);
    if (schedule == nullptr) continue;
    const auto axes = std::count(schedule->frozen.begin(), schedule->frozen.end(), 0);
    work += static_cast<double>(schedule->number_of_steps()) * static_cast<double>(axes) *
            std::pow(points, schedule->populations);
  }
  return work;
}

Density evolve(const Plan& plan, int points, SimdLevel level, const TaskContext& context) {
  Density density(std::make_shared<Grid>(points), 1);
  for (const auto& event : plan) {
    density = std::visit(Evolution{density, level, context}, event);
  }
  return density;
}

std::vector<std::vector<double>> expected_spectra(const std::vector<SpectrumJob>& jobs,
                                                  const Sampling& sampling, SimdLevel level,
                                                  int threads, JobControl& control) {
  // Those with the most work first, so that no thread is left alone with one at the end.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> work;
  work.reserve(jobs.size());
  for (const auto& job : jobs) work.push_back(work_of(*job.plan, job.points));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  // For progress alone.
  const auto units = [](double x) { return static_cast<std::int64_t>(std::min(x, 1e15)); };
  for (const double one : work) control.expect(units(one));

  std::vector<std::vector<double>> spectra(jobs.size());
  run_tasks(control, threads, static_cast<std::int64_t>(jobs.size()),
            [&](std::int64_t i, const TaskContext& context) {
              const std::size_t index = order[static_cast<std::size_t>(i)];
              const SpectrumJob& job = jobs[index];
              spectra[index] =
                  spectrum_of(evolve(*job.plan, job.points, level, context), sampling, context);
              control.advance(units(work[index]));
            });
  return spectra;
}

}  // namespace ancify::diffusion
