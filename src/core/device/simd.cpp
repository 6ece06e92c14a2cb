// Finds the vector instructions of this processor.
#include "core/device/simd.h"

#include "core/exec/errors.h"

namespace ancify {

SimdLevel best_simd_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni")) {
    return SimdLevel::kAvx512;
  }
  if (avx2) return SimdLevel::kAvx2;
#endif
  return SimdLevel::kScalar;
}

SimdLevel choose_simd_level(const std::string& wanted) {
  const SimdLevel best = best_simd_level();
  if (wanted == "auto") return best;
  for (const auto& [name, level] :
       {std::pair{"scalar", SimdLevel::kScalar}, std::pair{"avx2", SimdLevel::kAvx2},
        std::pair{"avx512", SimdLevel::kAvx512}}) {
    if (wanted != name) continue;
    if (level <= best) return level;
    throw InputError("this processor has no " + std::string(simd_name(level)) +
                     ": leave options(ancify.simd = ) unset, or set it to \"scalar\"");
  }
  throw InputError(
      "options(ancify.simd = ) must be \"auto\", \"scalar\", \"avx2\" or \"avx512\", not \"" +
      wanted + "\"");
}

const char* simd_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::kAvx512:
      return "AVX-512";
    case SimdLevel::kAvx2:
      return "AVX2";
    default:
#if defined(__aarch64__)
      return "NEON";
#else
      return "scalar";
#endif
  }
}

}  // namespace ancify
