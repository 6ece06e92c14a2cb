// Bases as small numbers: 0 to 3 for A, C, G, T in either case, 4 for everything else (missing).
#pragma once

#include <cstdint>

#include "core/device/host_device.h"

namespace ancify {

constexpr int kBases = 4;
constexpr int kMissing = 4;
constexpr int kStates = 5;

ANCIFY_HOST_DEVICE constexpr int base_code(char c) {
  switch (c & ~0x20) {
    case 'A':
      return 0;
    case 'C':
      return 1;
    case 'G':
      return 2;
    case 'T':
      return 3;
    default:
      return kMissing;
  }
}

ANCIFY_HOST_DEVICE constexpr char upper_base(int code) { return "ACGTN"[code]; }
ANCIFY_HOST_DEVICE constexpr char lower_base(int code) { return "acgtn"[code]; }

}  // namespace ancify
