// Which vector instructions the CPU code uses: chosen at run time, and the same results with each.
#pragma once

#include <string>

namespace ancify {

enum class SimdLevel { kScalar, kAvx2, kAvx512 };

// The best level that this processor has. kAvx512 stands for F, BW, VL, VBMI and VBMI2.
SimdLevel best_simd_level();

// The level called "scalar", "avx2" or "avx512", or the best for "auto". InputError where the
// processor lacks it.
SimdLevel choose_simd_level(const std::string& wanted);

// As people write it: "AVX-512". On 64-bit Arm, "NEON" is what the compiler uses throughout.
const char* simd_name(SimdLevel level);

}  // namespace ancify

// Compiles an inline function for a level. The compiler turns its plain loops into vector code, so
// one text serves all levels; GCC is told to, as R's flags stop at -O2.
#if defined(__x86_64__)
#define ANCIFY_TARGET_AVX2 __attribute__((target("avx2")))
#define ANCIFY_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")))
#endif
#define ANCIFY_ALWAYS_INLINE inline __attribute__((always_inline))
