// One look at a row of an alignment block, and another at two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/device/simd.h"

namespace ancify {

struct RowScan {
  std::int64_t gaps = 0;
  bool only_letters_and_gaps = true;
};

RowScan scan_row(std::string_view row, SimdLevel level);

// The first line of a text, blanks and carriage returns at its end left out.
struct LineScan {
  std::size_t size = 0;     // without its end
  std::size_t newline = 0;  // where it is, or the text's size where there is none
  RowScan row;
};

LineScan scan_line(std::string_view text, SimdLevel level);

// Copies the characters of `row` in those columns where `target`, as long, has no gap, and gives
// their number. `out` has room for all columns.
std::size_t copy_columns(std::string_view target, const char* row, char* out, SimdLevel level);

}  // namespace ancify
