// Scans a row of an alignment block, or copies columns of one row according to the gaps of another.
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

// Counts the gaps of a row, and looks for characters that are neither letters nor gaps.
RowScan scan_row(std::string_view row, SimdLevel level);

// The first line of a text, without trailing blanks and carriage returns.
struct LineScan {
  std::size_t size = 0;     // of the line
  std::size_t newline = 0;  // its position, or the text's size if absent
  RowScan row;
};

LineScan scan_line(std::string_view text, SimdLevel level);

// Copies the characters of `row` in the columns where `target` has no gap, and returns their
// number. Both rows have the same length; `out` has space for all columns.
std::size_t copy_columns(std::string_view target, const char* row, char* out, SimdLevel level);

}  // namespace ancify
