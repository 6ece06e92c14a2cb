// What training makes small, with its gradient.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/nn/network.h"

namespace ancify {

// The mean over rows of -log p[label], where p = softmax(row): a row's classes have unscaled
// log-probabilities. Its gradient by the rows, (p - 1[label]) / rows, is written to `gradient`,
// unless that is null.
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

}  // namespace ancify
