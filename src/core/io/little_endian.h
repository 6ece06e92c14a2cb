// Integers of binary files, with their lowest byte first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ancify {

// The integer in n bytes.
template <class Number = std::int64_t>
Number little_endian(const void* bytes, std::size_t n = sizeof(Number)) {
  const auto* const at = static_cast<const std::uint8_t*>(bytes);
  std::uint64_t value = 0;
  while (n-- > 0) value = value << 8 | at[n];
  return static_cast<Number>(value);
}

// Writes the n lowest bytes of an integer.
template <class Number>
void put_little_endian(Number number, void* bytes, std::size_t n = sizeof(Number)) {
  auto* const at = static_cast<std::uint8_t*>(bytes);
  const auto value = static_cast<std::uint64_t>(number);
  for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace ancify
