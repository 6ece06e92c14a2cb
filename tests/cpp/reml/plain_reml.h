// A slow, plain implementation of the restricted likelihood by explicit inverses of n x n matrices.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "reml/random_data.h"

namespace ancify::reml::test {

// The inverse and log determinant of a matrix, by Gauss-Jordan elimination with row exchanges.
struct Inverse {
  explicit Inverse(Vector a, std::size_t n) : values(n * n, 0) {
    for (std::size_t i = 0; i < n; ++i) values[i * n + i] = 1;
    for (std::size_t j = 0; j < n; ++j) {
      std::size_t pivot = j;
      for (std::size_t i = j; i < n; ++i) {
        if (std::abs(a[i * n + j]) > std::abs(a[pivot * n + j])) pivot = i;
      }
      for (std::size_t c = 0; c < n; ++c) {
        std::swap(a[j * n + c], a[pivot * n + c]);
        std::swap(values[j * n + c], values[pivot * n + c]);
      }
      const double value = a[j * n + j];
      log_determinant += std::log(std::abs(value));
      for (std::size_t c = 0; c < n; ++c) {
        a[j * n + c] /= value;
        values[j * n + c] /= value;
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (i == j) continue;
        const double times = a[i * n + j];
        for (std::size_t c = 0; c < n; ++c) {
          a[i * n + c] -= times * a[j * n + c];
          values[i * n + c] -= times * values[j * n + c];
        }
      }
    }
  }
  Vector values;
  double log_determinant = 0;
};

inline double plain_trace(const Vector& a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i * n + i];
  return sum;
}

inline double plain_dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The transpose of an n x p matrix.
inline Vector plain_transpose(const Vector& a, std::size_t n) {
  const std::size_t p = a.size() / n;
  Vector transposed(a.size());
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = 0; i < n; ++i) transposed[i * p + j] = a[j * n + i];
  }
  return transposed;
}

// a b for matrices of rows x inner and inner x columns.
inline Vector plain_matrix_product(const Vector& a, const Vector& b, std::size_t rows) {
  const std::size_t inner = a.size() / rows;
  Vector result(rows * (b.size() / inner), 0);
  for (std::size_t c = 0; c < b.size() / inner; ++c) {
    for (std::size_t j = 0; j < inner; ++j) {
      for (std::size_t i = 0; i < rows; ++i)
        result[c * rows + i] += a[j * rows + i] * b[c * inner + j];
    }
  }
  return result;
}

struct PlainReml {
  PlainReml(const Vector& y, const Vector& x, std::vector<Vector> kernels, const Vector& theta) {
    const std::size_t n = y.size();
    const std::size_t p = x.size() / n;
    Vector identity(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    kernels.push_back(identity);
    Vector h(n * n, 0);
    for (std::size_t g = 0; g < kernels.size(); ++g) {
      for (std::size_t i = 0; i < n * n; ++i) h[i] += theta[g] * kernels[g][i];
    }
    const Inverse h_inverse(h, n);
    log_likelihood = static_cast<double>(n - p) * std::log(2 * 3.14159265358979323846) +
                     h_inverse.log_determinant;
    projection = h_inverse.values;
    if (p > 0) {
      const Vector xt = plain_transpose(x, n);
      const Vector hx = plain_matrix_product(h_inverse.values, x, n);
      const Vector hxt = plain_transpose(hx, n);
      const Inverse of_effects(plain_matrix_product(xt, hx, p), p);
      covariance = of_effects.values;
      log_likelihood +=
          of_effects.log_determinant - Inverse(plain_matrix_product(xt, x, p), p).log_determinant;
      coefficients = plain_matrix_product(covariance, plain_matrix_product(hxt, y, p), p);
      const Vector projected =
          plain_matrix_product(plain_matrix_product(hx, covariance, n), hxt, n);
      for (std::size_t i = 0; i < n * n; ++i) projection[i] -= projected[i];
    }
    py = plain_matrix_product(projection, y, n);
    quadratic = plain_dot(y, py);
    log_likelihood = -0.5 * (log_likelihood + quadratic);
    std::vector<Vector> pa;
    for (const auto& kernel : kernels) {
      pa.push_back(plain_matrix_product(projection, kernel, n));
      apy.push_back(plain_matrix_product(kernel, py, n));
      traces.push_back(plain_trace(pa.back(), n));
      score.push_back(0.5 * (plain_dot(py, apy.back()) - traces.back()));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (std::size_t j = 0; j < kernels.size(); ++j) {
        average.push_back(0.5 * plain_dot(apy[i], plain_matrix_product(projection, apy[j], n)));
        expected.push_back(0.5 * plain_trace(plain_matrix_product(pa[i], pa[j], n), n));
      }
    }
  }

  double log_likelihood;
  double quadratic;
  Vector projection;  // P
  Vector py;
  std::vector<Vector> apy;  // K_g P y
  Vector coefficients;
  Vector covariance;
  Vector traces;
  Vector score;
  Vector average;
  Vector expected;
};

}  // namespace ancify::reml::test
