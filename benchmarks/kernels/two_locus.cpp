// Computes the two-locus statistics of a population that grew, at sixteen rates of recombination.
#include <vector>

#include "core/diffusion/schedule.h"
#include "core/two_locus/statistics.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  namespace diffusion = ancify::diffusion;
  const auto constant = [](double x) { return [x](double) { return x; }; };
  diffusion::Epoch epoch;
  epoch.end = 0.2;
  epoch.theta = constant(1);
  epoch.size = {[](double time) { return 0.5 + 5 * time; }, constant(0.7), constant(1.5)};
  epoch.selection.assign(3, constant(0));
  epoch.dominance.assign(3, constant(0.5));
  epoch.migration.assign(9, constant(0.4));
  epoch.frozen.assign(3, 0);
  const diffusion::Model model = {diffusion::Equilibrium{1, 1, 0, 0.5}, diffusion::Admixture{{1}},
                                  diffusion::Admixture{{1, 0}}, epoch};
  const auto plan = diffusion::plan_model(
      model, [](const diffusion::Epoch& one) { return diffusion::middle_steps(one, 8); });
  std::vector<double> rates;
  for (int k = 0; k < 16; ++k) rates.push_back(0.5 * k);
  return [=, level = kernel_level()] {
    JobControl control;
    two_locus::expected_statistics({plan}, rates, level, 1, control);
  };
}

}  // namespace ancify::bench
