// Kernels by ancestry against dense ones.
#include "core/reml/kernels/admixture_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/reml/kernels/genotype_kernels.h"
#include "genotypes/memory_genotypes.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

constexpr std::int64_t kSamples = 70;
constexpr std::int64_t kVariants = 601;
constexpr int kColumns = 3;

class AdmixtureKernelsTest : public testing::Test {
 protected:
  AdmixtureKernelsTest() {
    for (int i = 0; i < kSamples; ++i) shares_.push_back(static_cast<double>(i) / kSamples);
    for (std::size_t i = 0; i < kSamples; ++i) shares_.push_back(1 - shares_[i]);
    for (std::int64_t j = 0; j < kVariants; ++j) weights_.push_back({j, 0, 1});
  }

  GenotypeMatrix matrix(const GenotypeWork& work) {
    return {std::make_unique<MemoryGenotypes>(Calls::random(kSamples, kVariants, 0.05, 8)),
            {first_numbers(kSamples), first_numbers(kVariants)},
            work,
            control_};
  }

  JobControl control_;
  Vector shares_;
  std::vector<ComponentWeight> weights_;
};

TEST_F(AdmixtureKernelsTest, ProductsFormsAndDenseKernelsAreThePlainOnes) {
  const GenotypeMatrix genotypes = matrix({2, best_simd_level(), 0});
  GenotypeKernels shared(genotypes, weights_, 1, -1, control_);
  Vector k(kSamples * kSamples);
  shared.dense(0, k.data());
  const Vector diagonal = shared.diagonal(0);
  for (std::size_t i = 0; i < kSamples; ++i) {
    EXPECT_NEAR(diagonal[i], k[i * (kSamples + 1)], 1e-13);
  }
  AdmixtureKernels kernels(shared, diagonal, shares_);
  ASSERT_EQ(kernels.components(), 2);
  const Vector a = random_numbers(kSamples * kColumns, 1);
  const Vector b = random_numbers(kSamples * kColumns, 2);
  Vector forms(2 * kColumns);
  Vector squares(2 * kColumns);
  kernels.quadratic_forms(a.data(), b.data(), kColumns, Precision::kFull, forms.data());
  kernels.quadratic_forms(b.data(), b.data(), kColumns, Precision::kFull, squares.data());
  Vector sum(b.size());
  const Vector theta = {0.3, 2};
  for (std::size_t g = 0; g < 2; ++g) {
    Vector expected = k;
    double trace = 0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      for (std::size_t j = 0; j < kSamples; ++j) {
        expected[j * kSamples + i] *=
            std::sqrt(shares_[g * kSamples + i] * shares_[g * kSamples + j]);
      }
      trace += expected[i * (kSamples + 1)];
    }
    EXPECT_NEAR(kernels.mean_diagonal(static_cast<int>(g)), trace / kSamples, 1e-13);
    Vector dense(k.size());
    kernels.dense(static_cast<int>(g), dense.data());
    for (std::size_t i = 0; i < k.size(); ++i) ASSERT_NEAR(dense[i], expected[i], 1e-13);
    const Vector product = test::plain_product(expected, b, kSamples);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theta[g] * product[i];
    for (std::size_t c = 0; c < kColumns; ++c) {
      double form = 0;
      double square = 0;
      for (std::size_t i = c * kSamples; i < (c + 1) * kSamples; ++i) {
        form += a[i] * product[i];
        square += b[i] * product[i];
      }
      EXPECT_NEAR(forms[g * kColumns + c], form, 1e-11);
      EXPECT_NEAR(squares[g * kColumns + c], square, 1e-11);
    }
  }
  Vector out(b.size());
  kernels.times(theta.data(), b.data(), kColumns, Precision::kFull, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], sum[i], 1e-11);
}

TEST_F(AdmixtureKernelsTest, ThreadsMemoryAndInstructionsChangeNoByte) {
  const Vector theta = {0.3, 0.7};
  const Vector v = random_numbers(kSamples * kColumns, 1);
  Vector expected;
  for (const SimdLevel simd : simd_levels()) {
    for (const GenotypeWork& work :
         {GenotypeWork{1, simd, 0}, GenotypeWork{3, simd, 0}, GenotypeWork{2, simd, 10000}}) {
      const GenotypeMatrix genotypes = matrix(work);
      GenotypeKernels shared(genotypes, weights_, 1, -1, control_);
      Vector found = shared.diagonal(0);
      AdmixtureKernels kernels(shared, found, shares_);
      Vector product(v.size());
      kernels.times(theta.data(), v.data(), kColumns, Precision::kProbes, product.data());
      found.insert(found.end(), product.begin(), product.end());
      if (expected.empty()) expected = found;
      EXPECT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace ancify::reml
