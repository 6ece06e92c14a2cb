// Bases as small numbers: 0 to 3 for A, C, G, T in either case, 4 for everything else (missing).
#pragma once

#include <cstdint>

#include "core/device/host_device.h"

namespace ancify {

constexpr int kBases = 4;
constexpr int kMissing = 4;
constexpr int kStates = 5;

// The code of a character. It works in bytes, without branches or tables, so that compilers
// vectorise it well.
ANCIFY_HOST_DEVICE constexpr std::uint8_t base_code(char c) {
  const auto upper = static_cast<std::uint8_t>(c & ~0x20);
  const auto less_a = static_cast<std::uint8_t>(-(upper == 'A') & 4);
  const auto less_c = static_cast<std::uint8_t>(-(upper == 'C') & 3);
  const auto less_g = static_cast<std::uint8_t>(-(upper == 'G') & 2);
  const auto less_t = static_cast<std::uint8_t>(-(upper == 'T') & 1);
  return static_cast<std::uint8_t>(kMissing - (less_a | less_c | less_g | less_t));
}

ANCIFY_HOST_DEVICE constexpr char upper_base(int code) { return "ACGTN"[code]; }
ANCIFY_HOST_DEVICE constexpr char lower_base(int code) { return "acgtn"[code]; }

// The first base of a nonempty set, which is stored as bits; bit 0 is A.
ANCIFY_HOST_DEVICE constexpr int first_base(unsigned bases) {
  int base = 0;
  while ((bases >> base & 1U) == 0) ++base;
  return base;
}

}  // namespace ancify
