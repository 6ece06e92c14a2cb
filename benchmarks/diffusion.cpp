// Times the integration of a density: nanoseconds for a grid point and direction, in the last
// epochs of four published models. Compares them with a sweep over memory that reads and writes
// each value.
//
//   ancify_bench_diffusion
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/device/simd.h"
#include "core/diffusion/integration.h"
#include "core/exec/threads.h"

namespace diffusion = ancify::diffusion;

namespace {

using diffusion::ParameterHistory;

constexpr int kRounds = 7;
// The grid points times directions times steps of one timing.
constexpr double kUpdates = 4e7;

ParameterHistory constant(double x) {
  return [x](double) { return x; };
}

ParameterHistory growth(double from, double to, double time) {
  return [=](double t) { return from * std::pow(to / from, t / time); };
}

// A migration rate of a pair of populations, the same in both directions.
struct Pair {
  std::size_t i;
  std::size_t j;
  double rate;
};

diffusion::Epoch make_epoch(double time, std::vector<ParameterHistory> sizes,
                            const std::vector<Pair>& pairs) {
  const std::size_t n = sizes.size();
  diffusion::Epoch epoch;
  epoch.end = time;
  epoch.theta = constant(1);
  epoch.size = std::move(sizes);
  epoch.selection.assign(n, constant(0));
  epoch.dominance.assign(n, constant(0.5));
  epoch.frozen.assign(n, 0);
  epoch.migration.assign(n * n, constant(0));
  for (const Pair& pair : pairs) {
    epoch.migration[pair.i * n + pair.j] = constant(pair.rate);
    epoch.migration[pair.j * n + pair.i] = constant(pair.rate);
  }
  return epoch;
}

// Last epochs of Li and Stephan (2006), Gutenkunst and others (2009; two models), and Ragsdale and
// Gravel (2019).
diffusion::Epoch last_epoch(int populations) {
  switch (populations) {
    case 2:
      return make_epoch(0.0449, {constant(5), constant(0.625)}, {});
    case 3:
      return make_epoch(0.0581,
                        {constant(1.68), growth(0.137, 4.07, 0.0581), growth(0.0699, 7.41, 0.0581)},
                        {{0, 1, 0.438}, {0, 2, 0.277}, {1, 2, 1.40}});
    case 4:
      return make_epoch(0.059,
                        {constant(1.68), growth(0.801, 2.42, 0.059), growth(0.708, 4.19, 0.059),
                         growth(0.103, 7.94, 0.059)},
                        {{0, 1, 0.44}, {0, 2, 0.28}, {1, 2, 1.98}});
    default:
      return make_epoch(
          0.0829,
          {constant(3.86), constant(1), constant(1), growth(0.639, 3.02, 0.172),
           growth(0.181, 18.3, 0.172)},
          {{0, 2, 0.143}, {0, 3, 0.179}, {1, 3, 0.0594}, {1, 4, 0.0594}, {3, 4, 0.814}});
  }
}

// The seconds of the best of several rounds.
double best_of(const std::function<void()>& run) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// The seconds to read and write a value in an array larger than any cache.
double sweep_seconds() {
  std::vector<double> values(std::size_t{1} << 25, 1.0);
  return best_of([&] {
           for (double& value : values) value *= 1.0000001;
           asm volatile("" : : "r"(values.data()) : "memory");
         }) /
         static_cast<double>(values.size());
}

// Repeats or cuts the steps, so that their number is `steps`.
void make_as_long_as(diffusion::Schedule& schedule, std::int64_t steps) {
  const std::vector<diffusion::TimeStep> once = std::move(schedule.steps);
  schedule.steps.clear();
  for (std::size_t i = 0; steps > 0; i = (i + 1) % once.size()) {
    schedule.steps.push_back(once[i]);
    schedule.steps.back().times = std::min(steps, once[i].times);
    steps -= schedule.steps.back().times;
  }
}

void time_grid(int populations, int points, double sweep) {
  diffusion::Density density(std::make_shared<diffusion::Grid>(points), populations);
  std::fill(density.data(), density.data() + density.size(), 1.0);
  diffusion::Schedule schedule = diffusion::make_schedule(last_epoch(populations), {1e-3, 1});
  const double values = static_cast<double>(density.size());
  const auto steps = static_cast<std::int64_t>(std::max(2.0, kUpdates / values / populations));
  make_as_long_as(schedule, steps);
  const double updates = values * populations * static_cast<double>(steps);
  const auto run = [&](int threads) {
    return best_of([&] {
      ancify::JobControl control;
      ancify::run_tasks(control, threads, 1, [&](std::int64_t, const ancify::TaskContext& context) {
        diffusion::integrate(density, schedule, ancify::best_simd_level(), context);
      });
    });
  };
  const double one = run(1) / updates;
  const double two = run(2) / updates;
  std::printf("%dD, L = %3d: %5.2f ns, %5.2f of a sweep; 2 threads %5.2f times as fast\n",
              populations, points, one * 1e9, one / sweep, one / two);
}

}  // namespace

int main() {
  const double sweep = sweep_seconds();
  std::printf("%s, a grid point and direction on one thread; a sweep of memory: %.2f ns\n",
              ancify::simd_name(ancify::best_simd_level()), sweep * 1e9);
  for (const int points : {80, 160, 320}) time_grid(2, points, sweep);
  for (const int points : {40, 80}) time_grid(3, points, sweep);
  for (const int points : {20, 30}) time_grid(4, points, sweep);
  for (const int points : {14, 20}) time_grid(5, points, sweep);
}
