// Executes the plans of models in parallel on CPU threads, and samples from the densities.
#include "core/diffusion/expected_spectra.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/diffusion/equilibrium.h"
#include "core/diffusion/integration.h"
#include "core/diffusion/transitions.h"

namespace ancify::diffusion {

namespace {

// Applies an event of a plan to a density.
struct Evolution {
  Density operator()(const Equilibrium& event) const {
    return equilibrium_density(event, density.shared_grid());
  }
  Density operator()(const Schedule& schedule) {
    integrate(density, schedule, level, context);
    return std::move(density);
  }
  Density operator()(const Transition& transition) const { return after(density, transition); }

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
  // Start with the largest jobs, so that no thread ends long after the others.
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> work;
  work.reserve(jobs.size());
  for (const auto& job : jobs) work.push_back(work_of(*job.plan, job.points));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  // For progress reports only.
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
