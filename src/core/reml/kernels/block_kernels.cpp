// Groups share a product with K, with equally many columns for each.
#include "core/reml/kernels/block_kernels.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::reml {

BlockKernels::BlockKernels(std::unique_ptr<Kernels> kernels, std::vector<std::int32_t> groups,
                           int columns_at_once)
    : kernels_(std::move(kernels)), groups_(std::move(groups)), columns_at_once_(columns_at_once) {
  if (static_cast<std::int64_t>(groups_.size()) != samples()) {
    throw InputError("there are groups of " + std::to_string(groups_.size()) +
                     " samples, but the kernel has " + std::to_string(samples()));
  }
  for (const std::int32_t group : groups_) n_groups_ = std::max(n_groups_, group + 1);
}

std::int32_t BlockKernels::groups_at_once(int columns) const {
  return std::max(columns_at_once_ / columns, 1);
}

std::vector<double> BlockKernels::divided(std::int32_t first, std::int32_t end, const double* v,
                                          int columns) const {
  const auto n = static_cast<std::size_t>(samples());
  const std::size_t size = n * static_cast<std::size_t>(columns);
  std::vector<double> result(size * static_cast<std::size_t>(end - first));
  for (std::size_t k = 0; k < size; ++k) {
    const std::int32_t group = groups_[k % n];
    if (group < first || group >= end) continue;
    result[size * static_cast<std::size_t>(group - first) + k] = v[k];
  }
  return result;
}

void BlockKernels::times(const double* theta, const double* v, int columns, Precision precision,
                         double* out) {
  const auto n = static_cast<std::size_t>(samples());
  const std::size_t size = n * static_cast<std::size_t>(columns);
  const std::int32_t step = groups_at_once(columns);
  for (std::int32_t first = 0; first < n_groups_; first += step) {
    const std::int32_t end = std::min(first + step, n_groups_);
    const std::vector<double> inner = divided(first, end, v, columns);
    std::vector<double> product(inner.size());
    kernels_->times(theta, inner.data(), columns * (end - first), precision, product.data());
    for (std::size_t k = 0; k < size; ++k) {
      const std::int32_t group = groups_[k % n];
      if (group < first || group >= end) continue;
      out[k] = product[size * static_cast<std::size_t>(group - first) + k];
    }
  }
}

void BlockKernels::quadratic_forms(const double* a, const double* b, int columns,
                                   Precision precision, double* forms) {
  const auto width = static_cast<std::size_t>(columns);
  std::fill_n(forms, width * static_cast<std::size_t>(components()), 0.0);
  const std::int32_t step = groups_at_once(columns);
  for (std::int32_t first = 0; first < n_groups_; first += step) {
    const std::int32_t end = std::min(first + step, n_groups_);
    const std::vector<double> left = divided(first, end, a, columns);
    const std::vector<double> right =
        a == b ? std::vector<double>() : divided(first, end, b, columns);
    std::vector<double> own(width * static_cast<std::size_t>((end - first) * components()));
    kernels_->quadratic_forms(left.data(), a == b ? left.data() : right.data(),
                              columns * (end - first), precision, own.data());
    const std::size_t of_component = width * static_cast<std::size_t>(end - first);
    for (std::size_t k = 0; k < own.size(); ++k) {
      forms[k / of_component * width + k % width] += own[k];
    }
  }
}

void BlockKernels::dense(int component, double* out) {
  kernels_->dense(component, out);
  const std::size_t n = groups_.size();
  for (std::size_t k = 0; k < n * n; ++k) {
    if (groups_[k % n] != groups_[k / n]) out[k] = 0;
  }
}

}  // namespace ancify::reml
