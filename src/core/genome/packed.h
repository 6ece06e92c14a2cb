// Bases packed two a byte, for projected sequences that never leave memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// A group of positions lies in half as many bytes: its first half in their low nibbles, its second
// half in the high ones, so that vector code unpacks it without shuffling.
constexpr std::size_t kPackedHalf = 64;
constexpr std::size_t kPackedGroup = 2 * kPackedHalf;

inline std::size_t packed_size(std::size_t positions) {
  return (positions + kPackedGroup - 1) / kPackedGroup * kPackedHalf;
}

ANCIFY_HOST_DEVICE inline int packed_code(const char* packed, std::size_t position) {
  const auto byte = static_cast<std::uint8_t>(
      packed[position / kPackedGroup * kPackedHalf + position % kPackedHalf]);
  return position % kPackedGroup < kPackedHalf ? byte & 15 : byte >> 4;
}

// Stores the codes of n characters from `position` on.
void pack_bases(const char* bases, std::size_t n, std::size_t position, char* packed,
                SimdLevel level);

}  // namespace ancify
