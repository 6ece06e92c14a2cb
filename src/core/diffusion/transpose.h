// Transposes a table of values in memory.
#pragma once

#include <cstddef>

#include "core/device/simd.h"

namespace ancify::diffusion {

// Rows of values in memory.
struct Table {
  double* data;
  std::size_t stride;  // from one row to the next
};

// Writes the rows of `from` as the columns of `to`; `rows` and `columns` are the dimensions of
// `from`.
void transpose(const Table& from, const Table& to, std::size_t rows, std::size_t columns,
               SimdLevel level);

}  // namespace ancify::diffusion
