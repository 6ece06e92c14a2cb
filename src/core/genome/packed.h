// Bases packed two per byte, for sequences that never leave memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// A group of 128 positions takes 64 bytes: the low nibbles hold its first half, the high nibbles
// its second half. So vector code unpacks it without shuffling.
constexpr std::size_t kPackedHalf = 64;
constexpr std::size_t kPackedGroup = 2 * kPackedHalf;

// The bytes needed for this many positions.
inline std::size_t packed_size(std::size_t positions) {
  return (positions + kPackedGroup - 1) / kPackedGroup * kPackedHalf;
}

// The code at a position.
ANCIFY_HOST_DEVICE inline int packed_code(const char* packed, std::size_t position) {
  const auto byte = static_cast<std::uint8_t>(
      packed[position / kPackedGroup * kPackedHalf + position % kPackedHalf]);
  return position % kPackedGroup < kPackedHalf ? byte & 15 : byte >> 4;
}

// The letters of n positions: A, C, G, T or N.
void unpack_bases(const char* packed, std::size_t position, std::size_t n, char* letters);

// Packs n characters and stores them from `position` on.
void pack_bases(const char* bases, std::size_t n, std::size_t position, char* packed,
                SimdLevel level);

}  // namespace ancify
