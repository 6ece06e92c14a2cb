// Dense kernels that persist between jobs.
#include "core/reml/kernels/kept_kernels.h"

#include <gtest/gtest.h>

#include "core/reml/kernels/genotype_kernels.h"
#include "genotypes/memory_genotypes.h"

namespace ancify::reml {
namespace {

constexpr std::int64_t kBytes = 4 * sizeof(double);  // of a kernel of two samples
const std::vector<double> kKernel = {1, 0.25, 0.25, 2};

KernelSource two_samples() { return {{{3, 5}, {0, 1, 2}}, {{0, 0, 1}, {2, 1, 0.5}}, -1}; }

void keep(KeptKernels& kept, const KernelSource& source, int component,
          std::int64_t most_bytes = 10 * kBytes) {
  kept.keep(std::make_shared<const KernelSource>(source), component, kKernel.data(), most_bytes);
}

TEST(KeptKernels, AreFoundByTheSameSourceAndComponent) {
  KeptKernels kept;
  keep(kept, two_samples(), 1);
  const double* const found = kept.find(two_samples(), 1);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::vector<double>(found, found + 4), kKernel);
  EXPECT_EQ(kept.find(two_samples(), 0), nullptr);
  std::vector<KernelSource> others(6, two_samples());
  others[0].chosen.samples = {5, 3};
  others[1].chosen.variants = {0, 1, 3};
  others[2].weights[1].weight = 1;
  others[3].weights[1].variant = 1;
  others[4].weights[0].component = 1;
  others[5].scale_power = 0;
  for (const KernelSource& other : others) EXPECT_EQ(kept.find(other, 1), nullptr);
  kept.clear();
  EXPECT_EQ(kept.find(two_samples(), 1), nullptr);
}

TEST(KeptKernels, ThoseUsedLongestAgoGo) {
  KeptKernels kept;
  KernelSource other = two_samples();
  other.scale_power = 0;
  keep(kept, two_samples(), 0);
  keep(kept, two_samples(), 1);
  EXPECT_NE(kept.find(two_samples(), 0), nullptr);
  keep(kept, other, 0, 2 * kBytes);
  EXPECT_EQ(kept.find(two_samples(), 1), nullptr);
  EXPECT_NE(kept.find(two_samples(), 0), nullptr);
  EXPECT_NE(kept.find(other, 0), nullptr);
  keep(kept, other, 1, kBytes - 1);  // no kernel fits
  EXPECT_EQ(kept.find(two_samples(), 0), nullptr);
  EXPECT_EQ(kept.find(other, 1), nullptr);
}

TEST(GenotypeKernels, AKeptKernelIsTheOneThatWasMade) {
  JobControl control;
  const Calls calls = Calls::random(30, 40, 0.1, 1);
  const GenotypeSelection all = {first_numbers(30), first_numbers(40)};
  const GenotypeMatrix matrix(std::make_unique<MemoryGenotypes>(calls), all, {}, control);
  const std::vector<ComponentWeight> weights = {{3, 0, 1}, {7, 0, 2}};
  const KernelSource source = {all, weights, -1};
  KeptKernels kept;
  const auto dense = [&](const KernelKeeper& keeper) {
    GenotypeKernels kernels(matrix, weights, 1, -1, control);
    kernels.keep_in(keeper, source);
    std::vector<double> kernel(30 * 30);
    kernels.dense(0, kernel.data());
    EXPECT_EQ(kernels.passes(), 1);
    return kernel;
  };
  const KernelKeeper keeper = {&kept, 1 << 20};
  const std::vector<double> made = dense({});
  EXPECT_EQ(dense(keeper), made);
  EXPECT_EQ(dense(keeper), made);
  const std::vector<double> marked(made.size(), 1);
  kept.clear();
  kept.keep(std::make_shared<const KernelSource>(source), 0, marked.data(), 1 << 20);
  EXPECT_EQ(dense(keeper), marked);  // so it was not recomputed
}

}  // namespace
}  // namespace ancify::reml
