// Stochastic fits with products on fake devices have the CPU's bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "genotypes/fake_products.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/memory_genotypes.h"

namespace ancify::reml {
namespace {

constexpr std::int64_t kSamples = 70;
constexpr std::int64_t kVariants = 130;

std::unique_ptr<GenotypeFile> genotypes(bool dosed) {
  if (!dosed) return std::make_unique<MemoryGenotypes>(Calls::random(kSamples, kVariants, 0.05, 8));
  return std::make_unique<MemoryDosages>(Dosages::random(kSamples, kVariants, 0.05, {16384}, 8));
}

Fit fit_on(std::shared_ptr<ProductDevices> devices, int components, bool dosed) {
  JobControl control;
  const GenotypeMatrix matrix(genotypes(dosed), {first_numbers(kSamples), first_numbers(kVariants)},
                              {2, best_simd_level(), 0, true, std::move(devices)}, control);
  std::vector<ComponentWeight> weights;
  for (std::int64_t j = 0; j < kVariants; ++j) {
    weights.push_back({j, static_cast<int>(j % components), 1.0});
  }
  GenotypeKernels kernels(matrix, weights, components, -1, control);
  const FitData data = {random_numbers(kSamples, 2), std::vector<double>(kSamples, 1.0), {}};
  StochasticSettings settings;
  settings.search.lower.assign(static_cast<std::size_t>(components) + 1, std::nan(""));
  settings.search.tolerance = 1e-4;
  settings.max_probes = 32;
  return fit_stochastic(data, kernels, settings, {}, control, 2);
}

TEST(DeviceFit, HasTheBytesOfTheCpu) {
  for (const auto& [components, dosed] :
       {std::pair{1, false}, std::pair{2, false}, std::pair{2, true}}) {
    const Fit expected = fit_on(nullptr, components, dosed);
    const FakeProductDevices devices(2);
    const Fit found = fit_on(devices.all(), components, dosed);
    EXPECT_GT(devices.kernels(1).second_halves, 3U);
    EXPECT_EQ(found.theta, expected.theta);
    EXPECT_EQ(found.score, expected.score);
    EXPECT_EQ(found.information, expected.information);
    EXPECT_EQ(found.genetic, expected.genetic);
    EXPECT_EQ(found.passes, expected.passes);
  }
}

}  // namespace
}  // namespace ancify::reml
