// A density that drifts and migrates, for the kernels of diffusion.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/device/simd.h"
#include "core/diffusion/density.h"
#include "core/diffusion/grid.h"
#include "core/diffusion/integration.h"
#include "core/diffusion/schedule.h"
#include "level.h"

namespace ancify::bench {

// So many populations of several sizes, on a grid of so many points each.
inline std::function<void()> diffusion_kernel(int populations, int points, double time) {
  namespace diffusion = ancify::diffusion;
  const auto n = static_cast<std::size_t>(populations);
  const auto constant = [](double x) { return [x](double) { return x; }; };
  diffusion::Epoch epoch;
  epoch.end = time;
  epoch.theta = constant(1);
  epoch.selection.assign(n, constant(0));
  epoch.dominance.assign(n, constant(0.5));
  epoch.migration.assign(n * n, constant(0.4));
  epoch.frozen.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) epoch.size.push_back(constant(1.5 - 0.4 * double(i)));
  return [=] {
    diffusion::Density density(std::make_shared<diffusion::Grid>(points), populations);
    std::fill(density.data(), density.data() + density.size(), 1.0);
    diffusion::integrate(density, diffusion::make_schedule(epoch, {1e-3, 1}), kernel_level(),
                         TaskContext());
  };
}

}  // namespace ancify::bench
