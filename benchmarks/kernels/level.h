// The vector instructions that a kernel uses.
#pragma once

#include <cstdlib>

#include "core/device/simd.h"

namespace ancify::bench {

// The level that the variable ANCIFY_SIMD names, or the processor's best.
inline SimdLevel kernel_level() {
  const char* const wanted = std::getenv("ANCIFY_SIMD");
  return choose_simd_level(wanted == nullptr ? "auto" : wanted);
}

}  // namespace ancify::bench
