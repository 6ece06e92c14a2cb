// Loss functions of training, with their gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/nn/network.h"

namespace ancify {

// The mean over rows of -log p[label], where p = softmax(row): rows hold unnormalised
// log-probabilities of classes. The gradient with respect to the rows, (p - 1[label]) / rows, is
// written to `gradient`, unless that is null.
template <class T>
double cross_entropy(const Batch<T>& logits, const std::vector<std::int32_t>& labels,
                     Batch<T>* gradient) {
  const auto rows = static_cast<double>(logits.rows);
  if (gradient != nullptr) gradient->resize(logits.rows, logits.width);
  double loss = 0;
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const T* const row = logits.row(i);
    const auto label = static_cast<std::int64_t>(labels[static_cast<std::size_t>(i)]);
    const auto most = static_cast<double>(*std::max_element(row, row + logits.width));
    double sum = 0;
    for (std::int64_t j = 0; j < logits.width; ++j) {
      sum += std::exp(static_cast<double>(row[j]) - most);
    }
    loss += most + std::log(sum) - static_cast<double>(row[label]);
    if (gradient == nullptr) continue;
    for (std::int64_t j = 0; j < logits.width; ++j) {
      const double p = std::exp(static_cast<double>(row[j]) - most) / sum;
      gradient->row(i)[j] = static_cast<T>((p - (j == label ? 1 : 0)) / rows);
    }
  }
  return loss / rows;
}

// The sum of squared differences from the known values of `target`, and their number. Unknown
// values are NaN.
struct SquaredError {
  double sum = 0;
  std::int64_t known = 0;
  double mean() const { return known > 0 ? sum / static_cast<double>(known) : 0; }
};

// Writes the gradient of the mean with respect to `out` to `gradient`, unless that is null.
template <class T>
SquaredError masked_squared_error(const Batch<T>& out, const Batch<T>& target, Batch<T>* gradient) {
  SquaredError error;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    if (std::isnan(target.data[i])) continue;
    const double difference =
        static_cast<double>(out.data[i]) - static_cast<double>(target.data[i]);
    error.sum += difference * difference;
    ++error.known;
  }
  if (gradient == nullptr) return error;
  gradient->resize(out.rows, out.width);
  const double scale = error.known > 0 ? 2 / static_cast<double>(error.known) : 0;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    gradient->data[i] = std::isnan(target.data[i])
                            ? T{0}
                            : static_cast<T>(scale * (static_cast<double>(out.data[i]) -
                                                      static_cast<double>(target.data[i])));
  }
  return error;
}

}  // namespace ancify
