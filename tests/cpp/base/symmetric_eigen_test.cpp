// Eigenpairs against their definition, and leading ones against all.
#include "core/numerics/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ancify {
namespace {

using Matrix = std::vector<double>;

// Q diag(values) Q' with a random orthogonal Q.
Matrix with_eigenvalues(const std::vector<double>& values, unsigned seed) {
  const std::size_t n = values.size();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Matrix matrix(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = values[i];
  // Reflections H M H of random vectors keep the eigenvalues.
  for (int times = 0; times < 4; ++times) {
    std::vector<double> v(n);
    double square = 0;
    for (double& value : v) {
      value = normal(random);
      square += value * value;
    }
    const auto reflect = [&](std::size_t step, std::size_t from) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += v[k] * matrix[from + k * step];
      for (std::size_t k = 0; k < n; ++k) matrix[from + k * step] -= 2 * sum / square * v[k];
    };
    for (std::size_t i = 0; i < n; ++i) reflect(1, i * n);
    for (std::size_t i = 0; i < n; ++i) reflect(n, i);
  }
  return matrix;
}

// The largest element of M v - value v, over all pairs.
double error_of(const Matrix& matrix, const Eigenpairs& pairs) {
  const auto n = static_cast<std::size_t>(std::sqrt(static_cast<double>(matrix.size())) + 0.5);
  double most = 0;
  for (std::size_t c = 0; c < pairs.values.size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = -pairs.values[c] * pairs.vectors[c * n + i];
      for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * pairs.vectors[c * n + j];
      most = std::max(most, std::abs(sum));
    }
  }
  return most;
}

void expect_orthonormal(const Eigenpairs& pairs) {
  const std::size_t k = pairs.values.size();
  const std::size_t n = pairs.vectors.size() / k;
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = 0; b < k; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        sum += pairs.vectors[a * n + i] * pairs.vectors[b * n + i];
      EXPECT_NEAR(sum, a == b ? 1 : 0, 1e-12);
    }
  }
}

TEST(SmallEigen, FindsAllPairsOfSmallMatrices) {
  const std::vector<double> values = {5, 2, 2, 0, -1, -7};
  const Matrix matrix = with_eigenvalues(values, 1);
  const Eigenpairs pairs = symmetric_eigenpairs(6, matrix);
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(pairs.values[c], values[c], 1e-12);
  EXPECT_LT(error_of(matrix, pairs), 1e-12);
  expect_orthonormal(pairs);
}

TEST(SmallEigen, FindsLeadingPairs) {
  std::vector<double> values(40, 0.0);
  const std::vector<std::vector<double>> cases = {
      {9, 4, 1},                              // a Gram matrix of points
      {3, 3, 3},                              // equal ones
      {9, 4, 2, 1, 0.9, 0.8, 0.7, 0.6, -3},   // noise
      {6, 5, 4, -9, -8, -8, -7, -7, -6, -5},  // negative ones that are larger
      {5, 0, 0},                              // points on a line
  };
  for (const std::vector<double>& leading : cases) {
    std::vector<double> all = values;
    std::copy(leading.begin(), leading.end(), all.begin());
    const Matrix matrix = with_eigenvalues(all, 2);
    const Eigenpairs pairs = leading_eigenpairs(40, matrix);
    ASSERT_EQ(pairs.values.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(pairs.values[c], leading[c], 1e-9);
    EXPECT_LT(error_of(matrix, pairs), 1e-9);
    if (leading[2] != 0) expect_orthonormal(pairs);
  }
}

TEST(SmallEigen, TakesAZeroMatrix) {
  const Eigenpairs pairs = leading_eigenpairs(8, Matrix(64, 0.0));
  for (const double value : pairs.values) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace ancify
