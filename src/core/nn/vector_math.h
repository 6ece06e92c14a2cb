// Scalar functions in single precision without branches, so that compilers vectorise loops over
// them. NaN is preserved.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/device/host_device.h"
#include "core/device/simd.h"

namespace ancify {

// e^x for x <= 0, within 2 units in the last place; below -87 it is e^-87, 1.6e-38.
ANCIFY_HOST_DEVICE ANCIFY_ALWAYS_INLINE float exp_negative(float x) {
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693359375F;  // exact when multiplied by k
  constexpr float ln2_low = -2.12194440e-4F;
  constexpr float rounder = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  const float near = x < -87 ? -87 : x;
  const float shifted = near * log2_e + rounder;
  const float k = shifted - rounder;
  const float r = (near - k * ln2_high) - k * ln2_low;
  // Taylor series, as |r| is at most ln 2 / 2.
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1;
  sum = sum * r + 1;
  // 2^k: the low bits of `shifted` are k.
  std::uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return sum * power;
}

// 1 / x, 2^x and e^x for x <= 0. The card's hardware units have relative errors of 1e-7, 2e-7 and
// 2e-7 + 1e-7 |x|.
ANCIFY_HOST_DEVICE ANCIFY_ALWAYS_INLINE float quick_reciprocal(float x) {
#ifdef __CUDA_ARCH__
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return 1 / x;
#endif
}
ANCIFY_HOST_DEVICE ANCIFY_ALWAYS_INLINE float quick_exp2_negative(float x) {
#ifdef __CUDA_ARCH__
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return exp_negative(0.693147181F * x);
#endif
}
ANCIFY_HOST_DEVICE ANCIFY_ALWAYS_INLINE float quick_exp_negative(float x) {
#ifdef __CUDA_ARCH__
  return quick_exp2_negative(1.44269504F * x);
#else
  return exp_negative(x);
#endif
}

// x Phi(x), the Gaussian error linear unit by the error function. Phi(-a) for a > 0 is exp(-a^2 /
// 2) g(1 / (1 + 0.3 a)), and the polynomial g was fitted for minimal relative error, 2e-8.
ANCIFY_HOST_DEVICE ANCIFY_ALWAYS_INLINE float gelu(float x) {
  const float a = std::fabs(x);
  const float t = quick_reciprocal(1 + 0.3F * a);
  float g = 0.02975712792F;
  g = g * t - 0.1242598193F;
  g = g * t + 0.1282302475F;
  g = g * t + 0.04934802908F;
  g = g * t + 0.04594075846F;
  g = g * t + 0.1411574423F;
  g = g * t + 0.1082356943F;
  g = g * t + 0.1217426057F;
  g = g * t - 0.00015207791F;
  const float tail = a * quick_exp_negative(-0.5F * a * a) * g;
  return (x < 0 ? 0 : x) - tail;
}

}  // namespace ancify
