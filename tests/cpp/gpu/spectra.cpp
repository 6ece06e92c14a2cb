// Spectra on a GPU: agreement with the CPU to a relative 1e-12, and the time for each grid point
// and direction.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/device/tiles.h"
#include "core/diffusion/device_spectra.h"
#include "core/exec/threads.h"
#include "diffusion/demographic_models.h"
#include "driver.h"

namespace ancify::test {
namespace {

// The largest relative difference. NaN if a value is NaN, or sizes differ.
double worst_difference(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (found.size() != expected.size()) return nan;
  double worst = 0;
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (found[s].size() != expected[s].size()) return nan;
    for (std::size_t i = 0; i < found[s].size(); ++i) {
      if (found[s][i] == expected[s][i]) continue;
      const double difference = std::abs(found[s][i] / expected[s][i] - 1);
      if (std::isnan(difference)) return nan;
      worst = std::max(worst, difference);
    }
  }
  return worst;
}

// Computes spectra by a kernel for each operation and by blocks, in one or many launches, on one
// device and on three.
void check_spectra_of(Checks& checks, const Backend& backend, int most,
                      const std::vector<int>& grids, const diffusion::Sampling& sampling) {
  JobControl control;
  const diffusion::Plan plan = diffusion::plan_model(every_event(most), {1e-3, 1});
  std::vector<diffusion::SpectrumJob> jobs;
  for (const int points : grids) jobs.push_back({&plan, points});
  const auto expected =
      diffusion::expected_spectra(jobs, sampling, best_simd_level(), hardware_threads(), control);
  for (const std::size_t most_lines : {std::size_t{0}, std::size_t{1024}, ~std::size_t{0}}) {
    const std::size_t values_at_once = most_lines == 1024 ? std::size_t{1} << 24 : 1;
    for (const bool three : {false, true}) {
      const Backend used = three ? three_devices(backend) : backend;
      const auto found = diffusion::device_spectra(watched(diffusion::open_diffusion_devices(used)),
                                                   jobs, sampling, 0, hardware_threads(), control,
                                                   most_lines, values_at_once);
      const double worst = worst_difference(found, expected);
      checks.expect(worst < 1e-12, "spectra of " + std::to_string(most) +
                                       " populations differ by 1e-12 times " +
                                       std::to_string(1e12 * worst));
    }
  }
}

// A plan with splits into `populations`, and then an epoch of `steps` time steps with migration.
diffusion::Plan plan_of(int populations, std::int64_t steps) {
  diffusion::Model model = {diffusion::Equilibrium()};
  for (int k = 1; k < populations; ++k) {
    std::vector<double> shares(static_cast<std::size_t>(k));
    shares[0] = 1;
    model.push_back(diffusion::Admixture{shares});
  }
  diffusion::Epoch epoch;
  epoch.end = 1e-3 * 4 * static_cast<double>(steps);
  epoch.theta = constant_history(1);
  epoch.size.assign(populations, constant_history(1));
  epoch.migration.assign(populations * populations, constant_history(0.05));
  epoch.selection.assign(populations, constant_history(0));
  epoch.dominance.assign(populations, constant_history(0.5));
  epoch.frozen.assign(populations, 0);
  model.push_back(epoch);
  return diffusion::plan_model(model, {1e-3, 1});
}

// Times a grid point and direction, beside 16 bytes at the speed of a copy. `plans` equal plans run
// at once. The time is the difference between plans with twice as many steps and these.
void time_diffusion(const Backend& backend, int populations, int points, std::size_t plans,
                    double copied) {
  const auto devices = diffusion::open_diffusion_devices(backend);
  const std::int64_t steps = populations == 2 ? 2000 : 200;
  diffusion::Sampling sampling;
  sampling.sizes.assign(populations, 3);
  double took[2];
  for (int i = 0; i < 2; ++i) {
    const diffusion::Plan plan = plan_of(populations, (i + 1) * steps);
    const std::vector<diffusion::SpectrumJob> jobs(plans, {&plan, points});
    took[i] = seconds(devices[0]->device(), [&] {
      JobControl control;
      diffusion::device_spectra(devices, jobs, sampling, 0, hardware_threads(), control);
    });
  }
  double updates = static_cast<double>(plans) * populations * static_cast<double>(steps);
  for (int k = 0; k < populations; ++k) updates *= points;
  const double each = (took[1] - took[0]) / updates;
  std::printf(
      "%dD, L = %3d, %3zu at once: %9.5f ns a point and direction, %6.2f of a copy; "
      "%7.2f us a sweep\n",
      populations, points, plans, 1e9 * each, each / (16 * copied),
      1e6 * (took[1] - took[0]) / (populations * static_cast<double>(steps)));
}

// The seconds for each byte read or written by a copy within the device.
double copy_seconds(Device& device) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  MemoryPool pool(device);
  const DeviceArray<char> from(pool, bytes);
  const DeviceArray<char> to(pool, bytes);
  if (from.refused() || to.refused()) {
    throw_too_little_memory(pool, 2 * bytes, memory_budget(pool, 0));
  }
  const double took = seconds(device, [&] { device.copy(to.data(), from.data(), bytes, 0); });
  return took / (2.0 * bytes);
}

}  // namespace

// Checks spectra of all kinds of events and samples.
void check_spectra(Checks& checks, const Backend& backend, Extent extent) {
  const bool small = extent == Extent::kSmall;
  diffusion::Sampling sampling;
  sampling.sizes = {9};
  check_spectra_of(checks, backend, 1, {30, 40, small ? 200 : 2000}, sampling);
  const auto samplings = all_samplings();
  for (int s = 0; s < static_cast<int>(samplings.size()); ++s) {
    for (int most = 2; most <= 5; ++most) {
      // Samples are of two populations, however many there were before.
      if (small && most > 2 && s != most - 2) continue;
      const int points = most < 4 ? (small ? 20 : 60) : (small ? 10 : 16);
      check_spectra_of(checks, backend, most, {9, 12, points}, samplings[s]);
    }
  }
  checks.expect_all_begun<diffusion::DiffusionOperation>();
}

void time_spectra(const Backend& backend) {
  const auto devices = diffusion::open_diffusion_devices(backend);
  const double copied = copy_seconds(devices.front()->device());
  std::printf("a copy within the device: %.1f GB/s\n", 1e-9 / copied);
  for (const int points : {80, 160, 320}) {
    for (const std::size_t plans : {1, 132}) time_diffusion(backend, 2, points, plans, copied);
  }
  for (const int points : {40, 80, 120}) time_diffusion(backend, 3, points, 1, copied);
  for (const int points : {20, 30, 60}) time_diffusion(backend, 4, points, 1, copied);
  for (const int points : {14, 20}) time_diffusion(backend, 5, points, 1, copied);
}

}  // namespace ancify::test
