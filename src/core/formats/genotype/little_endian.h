// Integers of binary genotype files.
#pragma once

#include <cstdint>

namespace ancify {

// The integer in n bytes, the lowest first.
inline std::int64_t little_endian(const std::uint8_t* bytes, std::int64_t n) {
  std::int64_t value = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace ancify
