// Models with weights by sample become models with residual I: y ~ N(X b, K + W^-1) is
// W^1/2 y ~ N(W^1/2 X b, W^1/2 K W^1/2 + I).
#include "core/reml/kernels/scaled_kernels.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::reml {

ScaledKernels::ScaledKernels(std::unique_ptr<Kernels> kernels, std::vector<double> scales,
                             ScaledDiagonal diagonal)
    : kernels_(std::move(kernels)), scales_(std::move(scales)) {
  if (static_cast<std::int64_t>(scales_.size()) != kernels_->samples()) {
    throw InputError("there are scales of " + std::to_string(scales_.size()) +
                     " samples, but the kernel has " + std::to_string(kernels_->samples()));
  }
  for (int g = 0; g < kernels_->components(); ++g) {
    std::vector<double> own = kernels_->diagonal(g);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] *= scales_[i] * scales_[i];
    const double mean =
        std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(own.size());
    mean_diagonals_.push_back(mean);
    if (diagonal == ScaledDiagonal::kOwn) {
      own.clear();
    } else {
      for (double& value : own) value = mean - value;
    }
    added_.push_back(std::move(own));
  }
}

double ScaledKernels::mean_diagonal(int component) const {
  return mean_diagonals_[static_cast<std::size_t>(component)];
}

std::vector<double> ScaledKernels::scaled(const double* v, int columns) const {
  std::vector<double> result;
  result.reserve(scales_.size() * static_cast<std::size_t>(columns));
  for (int c = 0; c < columns; ++c) {
    for (const double scale : scales_) result.push_back(scale * *v++);
  }
  return result;
}

void ScaledKernels::times(const double* theta, const double* v, int columns, Precision precision,
                          double* out) {
  const std::vector<double> inner = scaled(v, columns);
  kernels_->times(theta, inner.data(), columns, precision, out);
  const auto n = static_cast<std::size_t>(samples());
  for (std::size_t k = 0; k < inner.size(); ++k) out[k] *= scales_[k % n];
  for (int g = 0; g < components(); ++g) {
    if (added(g).empty() || theta[g] == 0) continue;
    for (std::size_t k = 0; k < inner.size(); ++k) out[k] += theta[g] * added(g)[k % n] * v[k];
  }
}

void ScaledKernels::quadratic_forms(const double* a, const double* b, int columns,
                                    Precision precision, double* forms) {
  const std::vector<double> left = scaled(a, columns);
  const std::vector<double> right = a == b ? std::vector<double>() : scaled(b, columns);
  kernels_->quadratic_forms(left.data(), a == b ? left.data() : right.data(), columns, precision,
                            forms);
  const std::int64_t n = samples();
  for (int g = 0; g < components(); ++g) {
    if (added(g).empty()) continue;
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        sum += a[c * n + i] * added(g)[static_cast<std::size_t>(i)] * b[c * n + i];
      }
      forms[g * columns + c] += sum;
    }
  }
}

void ScaledKernels::dense(int component, double* out) {
  kernels_->dense(component, out);
  const auto n = static_cast<std::size_t>(samples());
  for (std::size_t k = 0; k < n * n; ++k) out[k] *= scales_[k % n] * scales_[k / n];
  for (std::size_t i = 0; i < added(component).size(); ++i) {
    out[i * (n + 1)] += added(component)[i];
  }
}

std::vector<double> ScaledKernels::diagonal(int component) {
  if (!added(component).empty())
    return std::vector<double>(scales_.size(), mean_diagonal(component));
  std::vector<double> result = kernels_->diagonal(component);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= scales_[i] * scales_[i];
  return result;
}

}  // namespace ancify::reml
