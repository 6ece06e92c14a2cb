// Turns a table of numbers in memory.
#pragma once

#include <cstddef>

#include "core/device/simd.h"

namespace ancify::diffusion {

struct Table {
  double* data;
  std::size_t stride;  // from row to row
};

// Rows of `from` become columns of `to`.
void turn(const Table& from, const Table& to, std::size_t rows, std::size_t columns,
          SimdLevel level);

}  // namespace ancify::diffusion
