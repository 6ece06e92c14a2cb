// Half-precision values (IEEE 754 binary16), and conversions that store a float as half or
// unchanged.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/device/host_device.h"

namespace ancify {

struct Half {
  std::uint16_t bits;
};

// The nearest half, with ties to even. Infinite from 65520 on.
ANCIFY_HOST_DEVICE inline Half to_half(float x) {
#ifdef __CUDA_ARCH__
  Half half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
  return half;
#else
  constexpr std::uint32_t infinite = 0x7f800000;      // as a float
  constexpr std::uint32_t too_large = 0x477ff000;     // 65520
  constexpr std::uint32_t least_normal = 0x38800000;  // 2^-14
  constexpr std::uint32_t exponents = 112U << 23;     // difference of the exponents' biases
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  std::uint32_t half;
  if (bits > infinite) {
    half = 0x7e00;
  } else if (bits >= too_large) {
    half = 0x7c00;
  } else if (bits < least_normal) {
    // Subnormal halves have the unit in the last place of 0.5, so this sum is rounded to one of
    // them.
    float size;
    std::memcpy(&size, &bits, sizeof size);
    size += 0.5F;
    std::memcpy(&half, &size, sizeof half);
    half -= 0x3f000000;
  } else {
    half = (bits - exponents + 0xfff + (bits >> 13 & 1)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | half)};
#endif
}

ANCIFY_HOST_DEVICE inline float to_float(Half half) {
#ifdef __CUDA_ARCH__
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half.bits));
  return x;
#else
  constexpr float least = 0x1p-24F;                // the least half above 0
  constexpr std::uint32_t exponents = 112U << 23;  // difference of the exponents' biases
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t size = half.bits & 0x7fffU;
  float x = static_cast<float>(size) * least;  // if it is subnormal
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (size >= 0x400) bits = (size << 13) + exponents;
  if (size >= 0x7c00) bits += exponents;  // infinity or NaN
  bits |= sign;
  std::memcpy(&x, &bits, sizeof x);
  return x;
#endif
}
ANCIFY_HOST_DEVICE inline float to_float(float x) { return x; }

ANCIFY_HOST_DEVICE inline void store(float x, float& to) { to = x; }
ANCIFY_HOST_DEVICE inline void store(float x, Half& to) { to = to_half(x); }

}  // namespace ancify
