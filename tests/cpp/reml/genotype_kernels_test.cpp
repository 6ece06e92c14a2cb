// Kernels of genotypes against plain loops.
#include "core/reml/kernels/genotype_kernels.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "genotypes/counted_reads.h"
#include "genotypes/memory_genotypes.h"

namespace ancify::reml {
namespace {

constexpr std::int64_t kSamples = 70;
constexpr std::int64_t kVariants = 520;

// Variants alternate between two components and belong to both where j % 5 == 0; each 13th belongs
// to none.
std::vector<ComponentWeight> two_components() {
  std::vector<ComponentWeight> weights;
  for (std::int64_t j = 0; j < kVariants; ++j) {
    if (j % 13 == 0) continue;
    if (j % 2 == 0 || j % 5 == 0) weights.push_back({j, 0, 1.0});
    if (j % 2 == 1 || j % 5 == 0) weights.push_back({j, 1, 0.5 + static_cast<double>(j % 3)});
  }
  return weights;
}

class GenotypeKernelsTest : public testing::TestWithParam<double> {
 protected:
  GenotypeKernelsTest()
      : calls_(Calls::random(kSamples, kVariants, 0.05, 8)),
        matrix_(std::make_unique<MemoryGenotypes>(calls_),
                {first_numbers(kSamples), first_numbers(kVariants)}, {2, best_simd_level(), 0},
                control_),
        kernels_(matrix_, two_components(), 2, GetParam(), control_) {
    const auto z = standardised(calls_, GetParam());
    for (int g = 0; g < 2; ++g) {
      std::vector<double> k(kSamples * kSamples);
      double sum = 0;
      for (const auto& [j, component, weight] : two_components()) {
        const auto& row = z[static_cast<std::size_t>(j)];
        double observed = 0;
        double squares = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (calls_.of_variants[static_cast<std::size_t>(j)][i] == kMissingCall) continue;
          observed += 1;
          squares += row[i] * row[i];
        }
        if (component != g || squares == 0) continue;
        sum += weight * squares / observed;  // v^(1 + scale_power)
        for (std::size_t a = 0; a < row.size(); ++a) {
          for (std::size_t b = 0; b < row.size(); ++b)
            k[a * kSamples + b] += weight * row[a] * row[b];
        }
      }
      for (double& value : k) value /= sum;
      plain_.push_back(k);
    }
  }

  double plain(int g, std::int64_t a, std::int64_t b) const {
    return plain_[static_cast<std::size_t>(g)][static_cast<std::size_t>(a * kSamples + b)];
  }

  Calls calls_;
  JobControl control_;
  GenotypeMatrix matrix_;
  GenotypeKernels kernels_;
  std::vector<std::vector<double>> plain_;
};

TEST_P(GenotypeKernelsTest, DenseKernelIsThePlainOne) {
  std::vector<double> k(kSamples * kSamples);
  for (int g = 0; g < 2; ++g) {
    kernels_.dense(g, k.data());
    double trace = 0;
    for (std::int64_t a = 0; a < kSamples; ++a) {
      trace += plain(g, a, a);
      for (std::int64_t b = 0; b < kSamples; ++b) {
        ASSERT_NEAR(k[static_cast<std::size_t>(a * kSamples + b)], plain(g, a, b), 1e-13);
      }
    }
    EXPECT_NEAR(kernels_.mean_diagonal(g), trace / kSamples, 1e-13);
  }
}

TEST_P(GenotypeKernelsTest, ProductsAndFormsAreThePlainOnes) {
  constexpr int columns = 3;
  const auto a = random_numbers(kSamples * columns, 1);
  const auto b = random_numbers(kSamples * columns, 2);
  for (const auto& theta : {std::vector{0.3, 2.0}, std::vector{0.0, 1.0}}) {
    std::vector<double> out(a.size());
    kernels_.times(theta.data(), a.data(), columns, Precision::kFull, out.data());
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t i = 0; i < kSamples; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < kSamples; ++k) {
          sum += (theta[0] * plain(0, i, k) + theta[1] * plain(1, i, k)) *
                 a[static_cast<std::size_t>(c * kSamples + k)];
        }
        ASSERT_NEAR(out[static_cast<std::size_t>(c * kSamples + i)], sum, 1e-12);
      }
    }
  }
  std::vector<double> forms(2 * columns);
  std::vector<double> squares(2 * columns);
  kernels_.quadratic_forms(a.data(), b.data(), columns, Precision::kFull, forms.data());
  kernels_.quadratic_forms(a.data(), a.data(), columns, Precision::kFull, squares.data());
  for (int g = 0; g < 2; ++g) {
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      double square = 0;
      for (std::int64_t i = 0; i < kSamples; ++i) {
        for (std::int64_t k = 0; k < kSamples; ++k) {
          const double left = a[static_cast<std::size_t>(c * kSamples + i)] * plain(g, i, k);
          sum += left * b[static_cast<std::size_t>(c * kSamples + k)];
          square += left * a[static_cast<std::size_t>(c * kSamples + k)];
        }
      }
      EXPECT_NEAR(forms[static_cast<std::size_t>(g * columns + c)], sum, 1e-11);
      EXPECT_NEAR(squares[static_cast<std::size_t>(g * columns + c)], square, 1e-11);
    }
  }
  EXPECT_DOUBLE_EQ(kernels_.passes(), 4);
}

INSTANTIATE_TEST_SUITE_P(ScalePowers, GenotypeKernelsTest, testing::Values(-1.0, 0.0, -0.25));

TEST(GenotypeKernels, AComponentNeedsAVariantThatVaries) {
  JobControl control;
  const Calls calls = Calls::random(20, 10, 0, 1);
  const GenotypeMatrix matrix(std::make_unique<MemoryGenotypes>(calls),
                              {first_numbers(20), first_numbers(10)}, {}, control);
  EXPECT_THROW(GenotypeKernels(matrix, {{0, 0, 1.0}, {9, 1, 1.0}}, 2, -1, control), InputError);
}

// The product of one component needs a single reading; facts follow it.
TEST(GenotypeKernels, FirstProductReadsTheGenotypes) {
  const Calls calls = Calls::random(kSamples, kVariants, 0.05, 8);
  const auto v = random_numbers(kSamples, 1);
  const GenotypeSelection all = {first_numbers(kSamples), first_numbers(kVariants)};
  JobControl control;
  for (const auto& theta : {std::vector{0.0, 0.7}, std::vector{0.3, 2.0}}) {
    const GenotypeMatrix before(std::make_unique<MemoryGenotypes>(calls), all, {}, control);
    GenotypeKernels expected(before, two_components(), 2, -1, control);
    std::vector<double> product(v.size());
    expected.times(theta.data(), v.data(), 1, Precision::kFull, product.data());
    for (const std::int64_t memory : {20000, 0}) {
      const auto reads = std::make_shared<std::atomic<std::int64_t>>(0);
      const GenotypeMatrix matrix(
          std::make_unique<CountedReads>(std::make_unique<MemoryGenotypes>(calls), reads), all,
          {2, best_simd_level(), memory});
      GenotypeKernels kernels(matrix, two_components(), 2, -1, control);
      EXPECT_EQ(*reads, 0);
      std::vector<double> out(v.size());
      kernels.times(theta.data(), v.data(), 1, Precision::kFull, out.data());
      EXPECT_EQ(out, product);
      EXPECT_EQ(*reads, memory > 0 && theta[0] != 0 ? 2 * kVariants : kVariants);
      for (int g = 0; g < 2; ++g) {
        EXPECT_EQ(kernels.divisor(g), expected.divisor(g));
        EXPECT_EQ(kernels.mean_diagonal(g), expected.mean_diagonal(g));
        EXPECT_EQ(kernels.used_variants(g), expected.used_variants(g));
      }
      EXPECT_EQ(kernels.constant_variants(), expected.constant_variants());
    }
  }
}

TEST(GenotypeKernels, FirstProductRefusesAComponentWithoutVariance) {
  JobControl control;
  const GenotypeMatrix matrix(std::make_unique<MemoryGenotypes>(Calls::random(20, 10, 0, 1)),
                              {first_numbers(20), first_numbers(10)}, {});
  GenotypeKernels kernels(matrix, {{9, 0, 1.0}}, 1, -1, control);
  const std::vector<double> v(20, 1);
  std::vector<double> out(20);
  const double theta = 1;
  EXPECT_THROW(kernels.times(&theta, v.data(), 1, Precision::kFull, out.data()), InputError);
}

}  // namespace
}  // namespace ancify::reml
