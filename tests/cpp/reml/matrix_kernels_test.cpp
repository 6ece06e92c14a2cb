// Compares products with dense kernels with plain sums.
#include "core/reml/kernels/matrix_kernels.h"

#include <limits>

#include "core/exec/errors.h"
#include "gtest/gtest.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

constexpr std::size_t kSamples = 30;
constexpr int kColumns = 35;

class MatrixKernelsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Kernels> matrices(std::vector<const double*> of) {
    return std::make_unique<MatrixKernels>(kSamples, std::move(of), control_);
  }
  std::unique_ptr<Kernels> products(const Vector& matrix) {
    double trace = 0;
    for (std::size_t i = 0; i < kSamples; ++i) trace += matrix[i * (kSamples + 1)];
    return std::make_unique<ProductKernel>(
        kSamples,
        [&matrix](const double* v, int columns, double* out) {
          const Vector product = test::plain_product(matrix, {v, v + kSamples * columns}, kSamples);
          std::copy(product.begin(), product.end(), out);
        },
        trace, control_);
  }
  // Two matrices, a product, and another matrix, as one.
  std::unique_ptr<Kernels> joined() {
    std::vector<std::unique_ptr<Kernels>> parts;
    parts.push_back(matrices({k_[0].data(), k_[1].data()}));
    parts.push_back(products(k_[2]));
    parts.push_back(matrices({k_[3].data()}));
    return join_kernels(std::move(parts));
  }

  JobControl control_;
  std::mt19937 random_{5};
  std::vector<Vector> k_ = {
      test::random_kernel(random_, kSamples, 40), test::random_kernel(random_, kSamples, 5),
      test::random_kernel(random_, kSamples, 20), test::random_kernel(random_, kSamples, 60)};
  Vector a_ = test::random_matrix(random_, kSamples, kColumns);
  Vector b_ = test::random_matrix(random_, kSamples, kColumns);
};

TEST_F(MatrixKernelsTest, TimesIsTheWeightedSumOfProducts) {
  const Vector theta = {0.5, 0, 2, -1};
  Vector expected(b_.size(), 0);
  for (std::size_t g = 0; g < 4; ++g) {
    const Vector product = test::plain_product(k_[g], b_, kSamples);
    for (std::size_t i = 0; i < b_.size(); ++i) expected[i] += theta[g] * product[i];
  }
  Vector found(b_.size(), 99);
  const auto kernels = joined();
  ASSERT_EQ(kernels->components(), 4);
  ASSERT_EQ(kernels->samples(), static_cast<std::int64_t>(kSamples));
  kernels->times(theta.data(), b_.data(), kColumns, Precision::kFull, found.data());
  for (std::size_t i = 0; i < b_.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12);
  const Vector none(4, 0);
  kernels->times(none.data(), b_.data(), kColumns, Precision::kFull, found.data());
  EXPECT_EQ(found, Vector(b_.size(), 0));
}

// A kernel with theta 0 is not read, so its values do not matter.
TEST_F(MatrixKernelsTest, AComponentWithThetaZeroTakesNoPart) {
  const Vector broken(kSamples * kSamples, std::numeric_limits<double>::quiet_NaN());
  const Vector theta = {2, 0};
  Vector found(b_.size());
  matrices({k_[0].data(), broken.data()})
      ->times(theta.data(), b_.data(), kColumns, Precision::kFull, found.data());
  const Vector expected = test::plain_product(k_[0], b_, kSamples);
  for (std::size_t i = 0; i < b_.size(); ++i) ASSERT_NEAR(found[i], 2 * expected[i], 1e-12);
}

TEST_F(MatrixKernelsTest, FormsAreThoseOfEachComponent) {
  Vector found(4 * kColumns);
  joined()->quadratic_forms(a_.data(), b_.data(), kColumns, Precision::kFull, found.data());
  for (std::size_t g = 0; g < 4; ++g) {
    const Vector product = test::plain_product(k_[g], b_, kSamples);
    for (std::size_t c = 0; c < kColumns; ++c) {
      double expected = 0;
      for (std::size_t i = c * kSamples; i < (c + 1) * kSamples; ++i) {
        expected += a_[i] * product[i];
      }
      ASSERT_NEAR(found[g * kColumns + c], expected, 1e-12);
    }
  }
}

TEST_F(MatrixKernelsTest, DenseGivesEachMatrixBack) {
  const auto kernels = joined();
  for (int g = 0; g < 4; ++g) {
    const Vector& expected = k_[static_cast<std::size_t>(g)];
    Vector found(expected.size());
    kernels->dense(g, found.data());
    EXPECT_EQ(found, expected);
    double trace = 0;
    for (std::size_t i = 0; i < kSamples; ++i) trace += expected[i * (kSamples + 1)];
    EXPECT_NEAR(kernels->mean_diagonal(g), trace / kSamples, 1e-14);
  }
}

TEST_F(MatrixKernelsTest, ProductsThatAreNotSymmetricAreAnError) {
  Vector k = k_[2];
  k[3] += 0.01;
  Vector found(k.size());
  EXPECT_NO_THROW(products(k_[2])->dense(0, found.data()));
  EXPECT_THROW(products(k)->dense(0, found.data()), InputError);
}

TEST_F(MatrixKernelsTest, PassesAreCounted) {
  const auto kernels = matrices({k_[0].data(), k_[1].data()});
  EXPECT_EQ(kernels->passes(), 0);
  const Vector theta = {1, 1};
  Vector found(b_.size());
  kernels->times(theta.data(), b_.data(), kColumns, Precision::kFull, found.data());
  kernels->quadratic_forms(a_.data(), b_.data(), kColumns, Precision::kFull, found.data());
  EXPECT_EQ(kernels->passes(), 2);
}

TEST_F(MatrixKernelsTest, AStopRequestIsSeen) {
  const auto kernels = joined();
  control_.request_stop();
  const Vector theta = {1, 1, 1, 1};
  Vector found(b_.size());
  EXPECT_THROW(kernels->times(theta.data(), b_.data(), kColumns, Precision::kFull, found.data()),
               Interrupted);
}

}  // namespace
}  // namespace ancify::reml
