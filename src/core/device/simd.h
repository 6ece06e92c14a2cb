// Levels of vector instructions, chosen at run time. All levels give the same results.
#pragma once

#include <string>

namespace ancify {

enum class SimdLevel { kScalar, kAvx2, kAvx512 };

// The highest level of this processor. kAvx2 needs AVX2 and FMA. kAvx512 also needs AVX-512 F, BW,
// VL, VBMI, VBMI2 and VNNI.
SimdLevel best_simd_level();

// The level named "scalar", "avx2" or "avx512", or the highest for "auto". Throws InputError for
// another name, or if the processor lacks the level.
SimdLevel choose_simd_level(const std::string& wanted);

// The level's name for messages, such as "AVX-512". On 64-bit Arm it is "NEON", which the compiler
// always uses.
const char* simd_name(SimdLevel level);

}  // namespace ancify

// These macros compile an inline function for a level. The compiler vectorises its plain loops, so
// all levels share one source text. Vectorisation needs -O3, which configure adds.
#if defined(__x86_64__)
#define ANCIFY_TARGET_AVX2 __attribute__((target("avx2")))
#define ANCIFY_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")))
#endif
#define ANCIFY_INLINED __attribute__((always_inline))  // of a lambda
#define ANCIFY_ALWAYS_INLINE inline ANCIFY_INLINED
