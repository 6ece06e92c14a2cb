// Random matrices and kernels for tests.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace ancify::reml::test {

using Vector = std::vector<double>;

inline Vector random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
  std::normal_distribution<double> normal;
  Vector values(rows * columns);
  for (double& value : values) value = normal(random);
  return values;
}

// Z Z' / m of random n x m columns Z.
inline Vector random_kernel(std::mt19937& random, std::size_t n, std::size_t m) {
  const Vector z = random_matrix(random, n, m);
  Vector kernel(n * n, 0);
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        kernel[i * n + j] += z[k * n + i] * z[k * n + j] / static_cast<double>(m);
      }
    }
  }
  return kernel;
}

// a b, of n x n and n x columns.
inline Vector plain_product(const Vector& a, const Vector& b, std::size_t n) {
  Vector product(b.size(), 0);
  for (std::size_t c = 0; c < b.size() / n; ++c) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) product[c * n + i] += a[j * n + i] * b[c * n + j];
    }
  }
  return product;
}

}  // namespace ancify::reml::test
