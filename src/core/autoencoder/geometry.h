// The geometry loss: the deviation of a map's own structure from the target distances.
#pragma once

#include <cstdint>

#include "core/exec/threads.h"
#include "core/nn/losses.h"
#include "core/nn/network.h"

namespace ancify::autoencoder {

// A map's structure comes from classical scaling in three dimensions. The squared errors of its
// distances are summed over the known pairs of `target`, i < j. `distances`, `target`: symmetric n
// x n matrices. Adds `scale` times the sum's derivatives with respect to the entries of `distances`
// to `gradient`, n x n, unless it is null.
//
// The gradient divides by gaps between eigenvalues, to which `damping` times the largest eigenvalue
// is added.
SquaredError geometry_error(std::int64_t points, const double* distances, const double* target,
                            double damping, double scale, double* gradient);

// As above, for the images of a batch; adds `weight` times the mean's gradient to `gradient`.
template <class T>
SquaredError add_geometry_error(std::int64_t points, std::int64_t size, const Batch<T>& out,
                                const Batch<T>& target, double weight, const TaskContext& context,
                                Batch<T>* gradient) {
  constexpr double damping = 0.01;
  const auto n = static_cast<std::size_t>(points);
  const auto crop = [&](const T* image) {
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        matrix[i * n + j] = static_cast<double>(image[i * static_cast<std::size_t>(size) + j]);
      }
    }
    return matrix;
  };
  std::int64_t known = 0;
  for (const T value : target.data) known += std::isnan(value) ? 0 : 1;
  // Images contain each pair twice.
  const double scale = known > 0 ? 2 * weight / static_cast<double>(known) : 0;
  std::vector<SquaredError> errors(static_cast<std::size_t>(out.rows));
  context.share(out.rows, [&](std::int64_t row) {
    const std::vector<double> distances = crop(out.row(row));
    const std::vector<double> wanted = crop(target.row(row));
    std::vector<double> part(n * n);
    errors[static_cast<std::size_t>(row)] =
        geometry_error(points, distances.data(), wanted.data(), damping, scale,
                       gradient == nullptr ? nullptr : part.data());
    if (gradient == nullptr) return;
    for (std::size_t i = 0; i < part.size(); ++i) {
      gradient->row(row)[i / n * static_cast<std::size_t>(size) + i % n] += static_cast<T>(part[i]);
    }
  });
  SquaredError error;
  for (const SquaredError& one : errors) {
    error.sum += one.sum;
    error.known += one.known;
  }
  return error;
}

}  // namespace ancify::autoencoder
