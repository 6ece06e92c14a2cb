// The lower triangle of a symmetric matrix, as stripes of columns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/genotypes/pattern_sums.h"
#include "core/io/memory.h"

namespace ancify {

// An n x n matrix as stripes of columns, stored at and below the diagonal.
class Stripes {
 public:
  explicit Stripes(std::int64_t n)
      : n_(n), memory_(static_cast<std::size_t>(count() * n * kStripeColumns) * sizeof(double)) {}
  std::int64_t count() const { return (n_ + kStripeColumns - 1) / kStripeColumns; }
  // One row per sample; rows above the stripe's first column are unused.
  double* operator[](std::int64_t stripe) {
    return reinterpret_cast<double*>(memory_.data()) + stripe * n_ * kStripeColumns;
  }
  // Calls use(row, column, number) for all elements of a stripe at or below the diagonal.
  template <class Use>
  void for_each_number(std::int64_t stripe, Use&& use) {
    const std::int64_t first = stripe * kStripeColumns;
    for (std::int64_t i = first; i < n_; ++i) {
      double* const row = (*this)[stripe] + i * kStripeColumns;
      for (std::int64_t c = first; c < std::min(first + kStripeColumns, i + 1); ++c) {
        use(i, c, row[c - first]);
      }
    }
  }

 private:
  std::int64_t n_;
  Memory memory_;  // zeros at first
};

}  // namespace ancify
