// How sure the calls of a sequence are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"

namespace ancify {

// How many positions are ACGT, acgt, n and N.
struct CallCounts {
  std::int64_t high = 0;
  std::int64_t low = 0;
  std::int64_t unresolved = 0;
  std::int64_t missing = 0;

  CallCounts& operator+=(const CallCounts& other);
};

CallCounts count_calls(const char* calls, std::size_t n, SimdLevel level);

}  // namespace ancify
