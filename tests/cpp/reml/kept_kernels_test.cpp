// Dense kernels that stay between jobs.
#include "core/reml/kept_kernels.h"

#include <gtest/gtest.h>

#include "core/reml/genotype_kernels.h"
#include "genotypes/memory_genotypes.h"

namespace ancify::reml {
namespace {

constexpr std::int64_t kRoom = 2 * 4 * sizeof(double);  // for two components of two samples

KernelSource two_samples() { return {{{3, 5}, {0, 1, 2}}, {{0, 0, 1}, {2, 1, 0.5}}, 2, -1}; }

class KeptKernelsTest : public testing::Test {
 protected:
  KeptKernelsTest() {
    kept_.begin(two_samples(), kRoom);
    kept_.keep(1, kernel_.data());
  }
  bool has_second() const { return kept_.find(1) != nullptr; }

  std::vector<double> kernel_ = {1, 0.25, 0.25, 2};
  KeptKernels kept_;
};

TEST_F(KeptKernelsTest, TheSameSourceFindsItsKernels) {
  kept_.begin(two_samples(), kRoom);
  EXPECT_EQ(kept_.find(0), nullptr);
  ASSERT_TRUE(has_second());
  EXPECT_EQ(std::vector<double>(kept_.find(1), kept_.find(1) + 4), kernel_);
}

TEST_F(KeptKernelsTest, AnotherSourceFindsNone) {
  std::vector<KernelSource> others(6, two_samples());
  others[0].chosen.samples = {5, 3};
  others[1].chosen.variants = {0, 1, 3};
  others[2].weights[1].weight = 1;
  others[3].weights[1].variant = 1;
  others[4].weights[0].component = 1;
  others[5].scale_power = 0;
  for (const KernelSource& other : others) {
    KeptKernels kept = kept_;
    kept.begin(other, kRoom);
    EXPECT_EQ(kept.find(1), nullptr);
  }
}

TEST_F(KeptKernelsTest, KernelsStayOnlyIfAllHaveRoom) {
  kept_.begin(two_samples(), kRoom - 1);
  EXPECT_FALSE(has_second());
  kept_.keep(1, kernel_.data());
  EXPECT_FALSE(has_second());
}

TEST(GenotypeKernels, AKeptKernelIsTheOneThatWasMade) {
  JobControl control;
  const Calls calls = Calls::random(30, 40, 0.1, 1);
  const GenotypeSelection all = {first_numbers(30), first_numbers(40)};
  const GenotypeMatrix matrix(std::make_unique<MemoryGenotypes>(calls), all, {}, control);
  const std::vector<ComponentWeight> weights = {{3, 0, 1}, {7, 0, 2}};
  KeptKernels kept;
  kept.begin({all, weights, 1, -1}, std::int64_t{1} << 20);
  std::vector<double> made(30 * 30);
  std::vector<double> found(made.size());
  for (std::vector<double>* const out : {&made, &found}) {
    GenotypeKernels kernels(matrix, weights, 1, -1, control);
    kernels.keep_in(&kept);
    kernels.dense(0, out->data());
    EXPECT_EQ(kernels.passes(), 1);
  }
  EXPECT_EQ(found, made);
  const std::vector<double> marked(made.size(), 1);
  kept.keep(0, marked.data());
  GenotypeKernels kernels(matrix, weights, 1, -1, control);
  kernels.keep_in(&kept);
  kernels.dense(0, found.data());
  EXPECT_EQ(found, marked);  // so it was not made again
}

}  // namespace
}  // namespace ancify::reml
