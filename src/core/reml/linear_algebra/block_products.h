// Products of dense symmetric blocks with rows of values, eight columns at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"

namespace ancify::reml {

// Rows of `columns` values. Eight columns form a panel of consecutive rows, so that a block's panel
// stays in the caches. Columns beyond the last one are 0.
class Panels {
 public:
  static constexpr std::int64_t kColumns = 8;

  Panels(std::int64_t rows, int columns)
      : rows_(rows),
        panels_((columns + kColumns - 1) / kColumns),
        values_(static_cast<std::size_t>(rows * panels_ * kColumns)) {}

  std::int64_t panels() const { return panels_; }
  // Eight values of a row.
  double* at(std::int64_t panel, std::int64_t row) {
    return &values_[static_cast<std::size_t>((panel * rows_ + row) * kColumns)];
  }
  const double* at(std::int64_t panel, std::int64_t row) const {
    return &values_[static_cast<std::size_t>((panel * rows_ + row) * kColumns)];
  }
  double& value(std::int64_t row, std::int64_t column) {
    return at(column / kColumns, row)[column % kColumns];
  }
  double value(std::int64_t row, std::int64_t column) const {
    return at(column / kColumns, row)[column % kColumns];
  }

 private:
  std::int64_t rows_;
  std::int64_t panels_;
  std::vector<double> values_;
};

// Rows [first, end) of a panel of W t, for a symmetric size x size matrix W. `t` and `out` begin at
// the block's first row. The order of sums is fixed.
void block_times(const double* w, std::int64_t size, std::int64_t first, std::int64_t end,
                 const double* t, SimdLevel simd, double* out);

}  // namespace ancify::reml
