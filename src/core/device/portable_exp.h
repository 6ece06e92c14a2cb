// The exponential function, with identical bits on every processor and device. It computes in
// integers wherever a compiler may fuse a product and a sum, which changes the rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/device/host_device.h"

namespace ancify {

// The upper 64 bits of the product.
ANCIFY_HOST_DEVICE inline std::int64_t high_product(std::int64_t a, std::int64_t b) {
#ifdef __CUDA_ARCH__
  return __mul64hi(a, b);
#else
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(a) * b >> 64);
#endif
}

// 2^n for n from -1022 to 1023.
ANCIFY_HOST_DEVICE inline double power_of_two(int n) {
  const std::int64_t bits = std::int64_t{1023 + n} << 52;
  double power = 0;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

// e^r for |r| below 0.35, by Taylor's series. r is in units of 2^-64, the result in units of 2^-62.
ANCIFY_HOST_DEVICE inline std::int64_t exp_near_zero(std::int64_t r) {
  constexpr std::int64_t one = std::int64_t{1} << 62;
  constexpr std::int64_t terms[] = {one,
                                    one,
                                    one / 2,
                                    one / 6,
                                    one / 24,
                                    one / 120,
                                    one / 720,
                                    one / 5040,
                                    one / 40320,
                                    one / 362880,
                                    one / 3628800,
                                    one / 39916800,
                                    one / 479001600,
                                    one / 6227020800};
  constexpr int last = sizeof terms / sizeof *terms - 1;
  std::int64_t sum = terms[last];
  for (int i = last; i-- > 0;) sum = terms[i] + high_product(sum, r);
  return sum;
}

// e^x. The error is at most 0.55 units in the last place, or 1 unit below the smallest normal
// number.
ANCIFY_HOST_DEVICE inline double portable_exp(double x) {
  if (x == 0) return 1;                       // common: every softmax has one
  if (!(x > -746)) return x <= -746 ? 0 : x;  // underflow, or not a number
  if (x > 710) return static_cast<double>(INFINITY);
  constexpr double twice_per_ln2 = 2.8853900817779268;
  constexpr double ln2_high = 0x1.62e42feep-1;       // k times it is exact
  constexpr std::int64_t ln2_low = 230689029736932;  // the rest of ln 2, in units of 2^-80
  constexpr double to_fixed = 0x1p64;
  const int halves = static_cast<int>(x * twice_per_ln2);
  const int k = (halves + (halves < 0 ? -1 : 1)) / 2;  // about x / ln 2, rounded
  const double near_zero = x - k * ln2_high;           // exact
  const std::int64_t r = static_cast<std::int64_t>(near_zero * to_fixed) - (k * ln2_low >> 16);
  // Two factors, as 2^k alone may be too small or too large.
  return static_cast<double>(exp_near_zero(r)) * power_of_two(k / 2 - 62) * power_of_two(k - k / 2);
}

}  // namespace ancify
