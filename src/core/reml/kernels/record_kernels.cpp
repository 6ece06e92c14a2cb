// Products of records sum records by individual, and multiply by the kernel of individuals.
#include "core/reml/kernels/record_kernels.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::reml {

RecordKernels::RecordKernels(std::unique_ptr<Kernels> kernels,
                             std::vector<std::int32_t> individuals)
    : kernels_(std::move(kernels)), individuals_(std::move(individuals)) {
  for (const std::int32_t i : individuals_) {
    if (i < 0 || i >= kernels_->samples()) {
      throw InputError("a record is of individual " + std::to_string(i + 1) +
                       ", but the kernels have " + std::to_string(kernels_->samples()));
    }
  }
  for (int g = 0; g < components(); ++g) {
    const std::vector<double> own = diagonal(g);
    mean_diagonals_.push_back(std::accumulate(own.begin(), own.end(), 0.0) /
                              static_cast<double>(own.size()));
  }
}

std::vector<double> RecordKernels::sums(const double* v, int columns) const {
  const std::int64_t n = kernels_->samples();
  std::vector<double> result(static_cast<std::size_t>(n * columns));
  for (std::int64_t c = 0; c < columns; ++c) {
    for (const std::int32_t i : individuals_) {
      result[static_cast<std::size_t>(c * n + i)] += *v++;
    }
  }
  return result;
}

void RecordKernels::times(const double* theta, const double* v, int columns, Precision precision,
                          double* out) {
  const std::int64_t n = kernels_->samples();
  const std::vector<double> inner = sums(v, columns);
  std::vector<double> product(inner.size());
  kernels_->times(theta, inner.data(), columns, precision, product.data());
  for (std::int64_t c = 0; c < columns; ++c) {
    for (const std::int32_t i : individuals_) {
      *out++ = product[static_cast<std::size_t>(c * n + i)];
    }
  }
}

void RecordKernels::quadratic_forms(const double* a, const double* b, int columns,
                                    Precision precision, double* forms) {
  const std::vector<double> left = sums(a, columns);
  const std::vector<double> right = a == b ? std::vector<double>() : sums(b, columns);
  kernels_->quadratic_forms(left.data(), a == b ? left.data() : right.data(), columns, precision,
                            forms);
}

void RecordKernels::dense(int component, double* out) {
  const std::int64_t n = kernels_->samples();
  std::vector<double> inner(static_cast<std::size_t>(n * n));
  kernels_->dense(component, inner.data());
  for (const std::int32_t j : individuals_) {
    const double* const column = inner.data() + j * n;
    for (const std::int32_t i : individuals_) *out++ = column[i];
  }
}

std::vector<double> RecordKernels::diagonal(int component) {
  const std::vector<double> inner = kernels_->diagonal(component);
  std::vector<double> result;
  result.reserve(individuals_.size());
  for (const std::int32_t i : individuals_) result.push_back(inner[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace ancify::reml
