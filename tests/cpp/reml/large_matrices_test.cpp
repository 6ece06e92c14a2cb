// Cholesky factors by tiles, and inverses from them.
#include "core/reml/linear_algebra/large_matrices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/exec/errors.h"

namespace ancify::reml {
namespace {

using Vector = std::vector<double>;

Vector positive_matrix(std::size_t n) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  Vector z(n * n);
  for (double& value : z) value = normal(generator);
  Vector a(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 0.5 * static_cast<double>(n) : 0;
      for (std::size_t k = 0; k < n; ++k) sum += z[k * n + i] * z[k * n + j];
      a[i * n + j] = a[j * n + i] = sum / static_cast<double>(n);
    }
  }
  return a;
}

Square square(Vector& matrix) {
  const auto n = std::llround(std::sqrt(static_cast<double>(matrix.size())));
  return {n, matrix.data(), n};
}

class LargeMatrices : public ::testing::Test {
 protected:
  JobControl control_;
};

// One tile, whole tiles, and a last tile of one row.
TEST_F(LargeMatrices, GivesTheMatrixAndItsInverse) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{50}, std::size_t{96}, std::size_t{97},
                              std::size_t{288}, std::size_t{301}}) {
    const Vector a = positive_matrix(n);
    Vector factor = a;
    ASSERT_TRUE(factorise({control_, 2}, square(factor)));
    Vector inverse = factor;
    invert({control_, 2}, square(inverse));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double square = 0;
        for (std::size_t k = 0; k <= j; ++k) square += factor[k * n + i] * factor[k * n + j];
        ASSERT_NEAR(square, a[j * n + i], 1e-12) << n;
        double unit = 0;
        for (std::size_t k = 0; k < n; ++k) unit += a[k * n + i] * inverse[j * n + k];
        ASSERT_NEAR(unit, i == j ? 1 : 0, 1e-11) << n;
        ASSERT_NEAR(inverse[j * n + i], inverse[i * n + j], 1e-13) << n;
      }
    }
  }
}

TEST_F(LargeMatrices, SolvesAndMultiplies) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{97}, std::size_t{301}}) {
    const Vector a = positive_matrix(n);
    Vector factor = a;
    ASSERT_TRUE(factorise({control_, 2}, square(factor)));
    for (const std::size_t columns :
         {std::size_t{1}, std::size_t{2}, std::min<std::size_t>(n, 99)}) {
      Vector x = {a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n * std::min(columns, n))};
      solve({control_, 2}, static_cast<std::int64_t>(n), factor, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(x[i], i % n == i / n ? 1 : 0, 1e-12) << "A^-1 A";
      }
    }
    Vector b(n * n);
    for (std::size_t k = 0; k < b.size(); ++k) b[k] = std::sin(static_cast<double>(k));
    for (const std::size_t columns : {std::size_t{1}, std::min<std::size_t>(n, 5)}) {
      const Vector few = {b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n * columns)};
      Vector found(few.size());
      symmetric_times({control_, 2}, static_cast<std::int64_t>(n), a.data(),
                      static_cast<std::int64_t>(columns), few.data(), found.data());
      Vector left = a;
      subtract_product({control_, 2}, static_cast<std::int64_t>(n),
                       static_cast<std::int64_t>(columns), few, found, left.data());
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double sum = 0;
          double product = 0;
          for (std::size_t k = 0; k < n; ++k) sum += j < columns ? a[k * n + i] * b[j * n + k] : 0;
          for (std::size_t k = 0; k < columns; ++k) product += few[k * n + i] * found[k * n + j];
          if (j < columns) {
            ASSERT_NEAR(found[j * n + i], sum, 1e-11);
          }
          ASSERT_NEAR(left[j * n + i], a[j * n + i] - product, 1e-11);
        }
      }
    }
    const Vector product = multiply_symmetric({control_, 2}, static_cast<std::int64_t>(n), a, b);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += a[k * n + i] * b[j * n + k];
        ASSERT_NEAR(product[j * n + i], sum, 1e-11);
      }
    }
  }
}

// A part of a matrix; the rest does not change.
TEST_F(LargeMatrices, TakesAPartOfAMatrix) {
  const std::size_t n = 150;
  const std::size_t stride = 160;
  const Vector a = positive_matrix(n);
  Vector alone = a;
  Vector around(stride * stride, 3);
  for (std::size_t j = 0; j < n; ++j) {
    std::copy_n(&a[j * n], n, &around[(j + 10) * stride + 10]);
  }
  const Square part = {static_cast<std::int64_t>(n), &around[10 * stride + 10],
                       static_cast<std::int64_t>(stride)};
  for (const Square& one : {square(alone), part}) {
    ASSERT_TRUE(factorise({control_, 2}, one));
    invert({control_, 2}, one);
  }
  for (std::size_t j = 0; j < stride; ++j) {
    for (std::size_t i = 0; i < stride; ++i) {
      const bool inside = i >= 10 && j >= 10;
      ASSERT_EQ(around[j * stride + i], inside ? alone[(j - 10) * n + i - 10] : 3);
    }
  }
}

TEST_F(LargeMatrices, HasTheSameBytesOnAnyThreads) {
  const int n = 500;
  Vector expected;
  for (const int threads : {1, 2, 5}) {
    Vector matrix = positive_matrix(n);
    ASSERT_TRUE(factorise({control_, threads}, square(matrix)));
    invert({control_, threads}, square(matrix));
    if (expected.empty()) expected = matrix;
    EXPECT_EQ(matrix, expected);
  }
}

TEST_F(LargeMatrices, NeedsAPositiveMatrix) {
  const std::size_t n = 200;
  for (const double bad : {-0.1, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{110}, n - 1}) {
      Vector a = positive_matrix(n);
      a[place * (n + 1)] = bad;
      EXPECT_FALSE(factorise({control_, 2}, square(a)));
    }
  }
}

TEST_F(LargeMatrices, StopsWhenItIsAskedTo) {
  Vector a = positive_matrix(200);
  Vector factor = a;
  ASSERT_TRUE(factorise({control_, 2}, square(factor)));
  control_.request_stop();
  EXPECT_THROW(factorise({control_, 2}, square(a)), Interrupted);
  EXPECT_THROW(invert({control_, 2}, square(factor)), Interrupted);
}

}  // namespace
}  // namespace ancify::reml
