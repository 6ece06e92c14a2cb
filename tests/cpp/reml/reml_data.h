// Models for tests: responses, fixed effects and dense kernels of related or unrelated samples.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/fit/fixed_effects.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/solvers/covariance.h"
#include "reml/random_data.h"

namespace ancify::reml::test {

struct RemlData {
  std::size_t samples() const { return y.size(); }
  FitData fit() const { return {y, x, {}}; }

  Vector y;
  Vector x;
  std::vector<Vector> kernels;
};

// Z Z' / m, where samples of a family of this size share half of each column.
inline Vector family_kernel(std::mt19937& random, std::size_t n, std::size_t m, std::size_t size) {
  Vector z = random_matrix(random, n, m);
  std::normal_distribution<double> normal;
  for (std::size_t k = 0; k < m; ++k) {
    double shared = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % size == 0) shared = normal(random);
      if (size > 1) z[k * n + i] = (z[k * n + i] + shared) / std::sqrt(2);
    }
  }
  Vector kernel(n * n, 0);
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        kernel[j * n + i] += z[k * n + i] * z[k * n + j] / static_cast<double>(m);
      }
    }
  }
  return kernel;
}

// Kernels of m variants each, families of `size`, an intercept and a covariate. y is drawn exactly
// with the variances `theta`: each part is a kernel's square root times normal variates.
inline RemlData make_data(unsigned seed, std::size_t n, std::size_t m, std::size_t size,
                          const Vector& theta) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  RemlData data;
  data.x.assign(n, 1);
  for (std::size_t i = 0; i < n; ++i) data.x.push_back(normal(random));
  data.y.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    data.y[i] = 3 + 0.5 * data.x[n + i] + std::sqrt(theta.back()) * normal(random);
  }
  for (std::size_t g = 0; g + 1 < theta.size(); ++g) {
    data.kernels.push_back(family_kernel(random, n, m, size));
    // L times normal variates, with the Cholesky factor L of K, also has the covariance K.
    Vector factor = data.kernels.back();
    for (std::size_t i = 0; i < n; ++i) factor[i * n + i] += 1e-9;
    cholesky(static_cast<int>(n), factor.data());
    for (std::size_t j = 0; j < n; ++j) {
      const double effect = std::sqrt(theta[g]) * normal(random);
      for (std::size_t i = j; i < n; ++i) data.y[i] += factor[j * n + i] * effect;
    }
  }
  return data;
}

// A model of dense kernels, and the data it refers to.
struct DenseModel {
  explicit DenseModel(const RemlData& data, int threads = 1)
      : data(data.fit()),
        workers{control, threads},
        fixed(this->data, workers),
        kernels(static_cast<std::int64_t>(data.samples()), pointers(data), control),
        model(this->data, kernels, fixed, workers) {}

  static std::vector<const double*> pointers(const RemlData& data) {
    std::vector<const double*> result;
    for (const Vector& kernel : data.kernels) result.push_back(kernel.data());
    return result;
  }

  FitData data;
  JobControl control;
  Workers workers;
  FixedEffects fixed;
  MatrixKernels kernels;
  RestrictedModel model;
};

}  // namespace ancify::reml::test
