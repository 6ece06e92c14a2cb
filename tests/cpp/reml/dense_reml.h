// A slow, plain implementation of the restricted likelihood, with dense matrices and without the
// projection that the core begins with.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace ancify::reml::test {

using Vector = std::vector<double>;

// A symmetric positive definite matrix: its inverse and log-determinant, by Gauss and Jordan.
struct Inverse {
  Inverse(Vector a, std::size_t n) : values(n * n, 0) {
    for (std::size_t i = 0; i < n; ++i) values[i * n + i] = 1;
    for (std::size_t k = 0; k < n; ++k) {
      const double pivot = a[k * n + k];
      log_determinant += std::log(pivot);
      for (std::size_t j = 0; j < n; ++j) {
        a[k * n + j] /= pivot;
        values[k * n + j] /= pivot;
      }
      for (std::size_t i = 0; i < n; ++i) {
        const double factor = i == k ? 0 : a[i * n + k];
        for (std::size_t j = 0; j < n; ++j) {
          a[i * n + j] -= factor * a[k * n + j];
          values[i * n + j] -= factor * values[k * n + j];
        }
      }
    }
  }

  Vector values;
  double log_determinant = 0;
};

// a b for column-major matrices, of rows x inner and inner x columns.
inline Vector times(const Vector& a, const Vector& b, std::size_t inner) {
  const std::size_t rows = a.size() / inner;
  const std::size_t columns = b.size() / inner;
  Vector result(rows * columns, 0);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t i = 0; i < rows; ++i) {
        result[c * rows + i] += a[k * rows + i] * b[c * inner + k];
      }
    }
  }
  return result;
}

inline Vector transpose(const Vector& a, std::size_t rows) {
  const std::size_t columns = a.size() / rows;
  Vector result(a.size());
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + c] = a[c * rows + i];
  }
  return result;
}

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double trace(const Vector& a, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i * n + i];
  return sum;
}

// All of REML at a theta; the residual is last.
struct DenseReml {
  // kernels: without that of the residual.
  DenseReml(const Vector& y, const Vector& x, std::vector<Vector> kernels, const Vector& theta) {
    n = y.size();
    const std::size_t p = x.size() / n;
    Vector identity(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    kernels.push_back(identity);
    Vector h(n * n, 0);
    for (std::size_t g = 0; g < kernels.size(); ++g) {
      for (std::size_t i = 0; i < h.size(); ++i) h[i] += theta[g] * kernels[g][i];
    }
    const Inverse inverse(h, n);
    const Vector hx = times(inverse.values, x, n);
    const Inverse effects(times(transpose(x, n), hx, n), p);
    const Inverse plain(times(transpose(x, n), x, n), p);
    coefficients_covariance = effects.values;
    coefficients = times(effects.values, times(transpose(hx, n), y, n), p);
    projection = times(times(hx, effects.values, p), transpose(hx, n), p);
    for (std::size_t i = 0; i < h.size(); ++i) projection[i] = inverse.values[i] - projection[i];
    const Vector py = times(projection, y, n);
    const double log_2_pi = std::log(2 * std::acos(-1.0));
    log_likelihood = -0.5 * (static_cast<double>(n - p) * log_2_pi + inverse.log_determinant +
                             effects.log_determinant - plain.log_determinant + dot(y, py));
    const std::size_t k = kernels.size();
    information.resize(k * k);
    expected.resize(k * k);
    std::vector<Vector> products;
    std::vector<Vector> columns;
    for (const Vector& kernel : kernels) {
      products.push_back(times(projection, kernel, n));
      columns.push_back(times(kernel, py, n));
      traces.push_back(trace(products.back(), n));
      score.push_back((dot(py, columns.back()) - traces.back()) / 2);
    }
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        information[j * k + i] = dot(columns[i], times(projection, columns[j], n)) / 2;
        expected[j * k + i] = trace(times(products[i], products[j], n), n) / 2;
      }
    }
    residual_projection = py;
  }

  std::size_t n;
  Vector projection;
  Vector residual_projection;
  Vector traces;
  Vector score;
  Vector information;
  Vector expected;
  Vector coefficients;
  Vector coefficients_covariance;
  double log_likelihood;
};

}  // namespace ancify::reml::test
