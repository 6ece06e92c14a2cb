// Kernels of weighted blocks against plain loops.
#include "core/reml/kernels/weighted_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "core/exec/errors.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "genotypes/memory_genotypes.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

constexpr std::int64_t kSamples = 70;
constexpr std::int64_t kVariants = 700;
// Their bounds are none of blocks of genotypes; components alternate.
const std::vector<std::int64_t> kSizes = {1, 300, 37, 9, 340, 13};

struct Blocks {
  explicit Blocks(unsigned seed) {
    std::mt19937 random(seed);
    for (const std::int64_t size : kSizes) {
      values.push_back(test::random_kernel(random, static_cast<std::size_t>(size), 5));
    }
  }
  std::vector<WeightBlock> views() const {
    std::vector<WeightBlock> result;
    for (std::size_t b = 0; b < values.size(); ++b) {
      result.push_back({values[b].data(), kSizes[b], static_cast<int>(b % 2)});
    }
    return result;
  }
  std::vector<Vector> values;
};

class WeightedKernelsTest : public testing::Test {
 protected:
  GenotypeMatrix matrix(const GenotypeWork& work) {
    return {std::make_unique<MemoryGenotypes>(calls_),
            {first_numbers(kSamples), first_numbers(kVariants)},
            work,
            control_};
  }

  // The sum of Z_b W_b Z_b' over the blocks of a component.
  Vector plain(int component, double scale_power) const {
    const auto z = standardised(calls_, scale_power);
    Vector k(kSamples * kSamples);
    std::size_t first = 0;
    for (const WeightBlock& block : blocks_.views()) {
      const auto size = static_cast<std::size_t>(block.size);
      for (std::size_t i = 0; i < size && block.component == component; ++i) {
        Vector weighted(kSamples);  // sum_j W_ij z_j
        for (std::size_t j = 0; j < size; ++j) {
          for (std::size_t b = 0; b < kSamples; ++b) {
            weighted[b] += block.values[i * size + j] * z[first + j][b];
          }
        }
        for (std::size_t k_at = 0; k_at < k.size(); ++k_at) {
          k[k_at] += z[first + i][k_at / kSamples] * weighted[k_at % kSamples];
        }
      }
      first += size;
    }
    return k;
  }

  Calls calls_ = Calls::random(kSamples, kVariants, 0.05, 8);
  Blocks blocks_{3};
  JobControl control_;
};

TEST_F(WeightedKernelsTest, ProductsFormsAndDenseKernelsAreThePlainOnes) {
  constexpr int columns = 11;
  const GenotypeMatrix genotypes = matrix({2, best_simd_level(), 0});
  const Vector a = random_numbers(kSamples * columns, 1);
  const Vector b = random_numbers(kSamples * columns, 2);
  for (const double power : {-1.0, 0.0}) {
    WeightedKernels kernels(genotypes, blocks_.views(), {0, 17}, power, control_, {},
                            power == 0 ? 340 : 1 << 16);
    for (int g = 0; g < 2; ++g) {
      Vector expected = plain(g, power);
      double trace = 0;
      for (std::size_t i = 0; i < kSamples; ++i) trace += expected[i * (kSamples + 1)];
      const double divisor = g == 0 ? trace / kSamples : 17;
      for (double& value : expected) value /= divisor;
      EXPECT_NEAR(kernels.divisors()[static_cast<std::size_t>(g)], divisor, 1e-9 * divisor);
      EXPECT_NEAR(kernels.mean_diagonal(g), trace / kSamples / divisor, 1e-10);
      Vector dense(kSamples * kSamples);
      kernels.dense(g, dense.data());
      const Vector product = test::plain_product(expected, b, kSamples);
      Vector theta(2);
      theta[static_cast<std::size_t>(g)] = 0.5;
      Vector out(b.size());
      kernels.times(theta.data(), b.data(), columns, Precision::kFull, out.data());
      Vector forms(2 * columns);
      Vector squares(2 * columns);
      kernels.quadratic_forms(a.data(), b.data(), columns, Precision::kFull, forms.data());
      kernels.quadratic_forms(b.data(), b.data(), columns, Precision::kFull, squares.data());
      for (std::size_t i = 0; i < dense.size(); ++i) ASSERT_NEAR(dense[i], expected[i], 1e-11);
      for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], product[i] / 2, 1e-10);
      for (std::size_t c = 0; c < columns; ++c) {
        double form = 0;
        double square = 0;
        for (std::size_t i = c * kSamples; i < (c + 1) * kSamples; ++i) {
          form += a[i] * product[i];
          square += b[i] * product[i];
        }
        EXPECT_NEAR(forms[static_cast<std::size_t>(g) * columns + c], form, 1e-9);
        EXPECT_NEAR(squares[static_cast<std::size_t>(g) * columns + c], square, 1e-9);
      }
    }
  }
}

TEST_F(WeightedKernelsTest, ThreadsMemoryAndInstructionsChangeNoByte) {
  const Vector theta = {0.3, 0.7};
  for (const int columns : {1, 9}) {
    const Vector v = random_numbers(kSamples * columns, 1);
    Vector expected;
    for (const SimdLevel simd : simd_levels()) {
      for (const GenotypeWork& work :
           {GenotypeWork{1, simd, 0}, GenotypeWork{3, simd, 0}, GenotypeWork{2, simd, 10000}}) {
        const GenotypeMatrix genotypes = matrix(work);
        EXPECT_EQ(genotypes.resident(), work.memory == 0);
        WeightedKernels kernels(genotypes, blocks_.views(), {0, 0}, -1, control_);
        Vector found(static_cast<std::size_t>(kSamples * columns + 2 * columns));
        kernels.times(theta.data(), v.data(), columns, Precision::kProbes, found.data());
        kernels.quadratic_forms(v.data(), v.data(), columns, Precision::kProbes,
                                found.data() + kSamples * columns);
        found.insert(found.end(), kernels.divisors().begin(), kernels.divisors().end());
        if (expected.empty()) expected = found;
        EXPECT_EQ(found, expected);
      }
    }
  }
}

TEST_F(WeightedKernelsTest, IdentitiesAreThePlainKernel) {
  calls_ = Calls::random(kSamples, kVariants, 0, 8);
  const GenotypeMatrix genotypes = matrix({});
  std::vector<Vector> identities;
  std::vector<WeightBlock> blocks;
  for (const std::int64_t size : kSizes) {
    identities.emplace_back(area(size, size));
    for (std::int64_t i = 0; i < size; ++i) identities.back()[area(size + 1, i)] = 1;
  }
  for (std::size_t b = 0; b < kSizes.size(); ++b) {
    blocks.push_back({identities[b].data(), kSizes[b], 0});
  }
  std::vector<ComponentWeight> weights;
  for (std::int64_t j = 0; j < kVariants; ++j) weights.push_back({j, 0, 1});
  GenotypeKernels plain(genotypes, weights, 1, -1, control_);
  WeightedKernels weighted(genotypes, blocks, {0}, -1, control_);
  EXPECT_EQ(weighted.used_variants(0), plain.used_variants(0));
  EXPECT_NEAR(weighted.divisors()[0], static_cast<double>(plain.used_variants(0)), 1e-9);
  const Vector v = random_numbers(kSamples * 2, 1);
  const double theta = 2;
  Vector expected(v.size());
  Vector found(v.size());
  plain.times(&theta, v.data(), 2, Precision::kFull, expected.data());
  weighted.times(&theta, v.data(), 2, Precision::kFull, found.data());
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

TEST_F(WeightedKernelsTest, BlocksMustTileTheVariantsAndVary) {
  const GenotypeMatrix genotypes = matrix({});
  std::vector<WeightBlock> blocks = blocks_.views();
  const Vector zeros(area(13, 13));
  blocks.back().values = zeros.data();
  blocks.back().component = 2;
  EXPECT_THROW(WeightedKernels(genotypes, blocks, {0, 0, 0}, -1, control_), InputError);
  blocks.pop_back();
  EXPECT_THROW(WeightedKernels(genotypes, blocks, {0, 0}, -1, control_), InputError);
}

}  // namespace
}  // namespace ancify::reml
