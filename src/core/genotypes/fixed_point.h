// Columns of values as 28-bit integers times a step, and their digits base 128.
#pragma once

#include <cstdint>

#include "core/device/host_device.h"

namespace ancify {

constexpr std::int64_t kNumberDigits = 4;

// The largest number of four signed digits base 128, each from -64 to 63.
constexpr double kMostFixed = 63.0 * (1 + 128 + 128 * 128 + 128 * 128 * 128);

// The nearest integer, halves to even: adding a large constant leaves no fractional bits. It takes
// a tenth of the time of lrint(), which is a function call.
inline std::int32_t nearest(double value) {
  constexpr double large = 3.0 * (std::int64_t{1} << 51);
  return static_cast<std::int32_t>((value + large) - large);
}

// The steps of a column whose largest magnitude is `most`: value = coarse * steps.coarse + fine *
// steps.fine, with an error of at most half the last step used.
struct FixedSteps {
  explicit FixedSteps(double most) : coarse(most / kMostFixed), fine(coarse / (1 << 27)) {}
  // The coarse part of a value. A step of 0 gives 0.
  std::int32_t coarse_part(double value) const { return coarse > 0 ? nearest(value / coarse) : 0; }
  // The fine part: the remainder after the coarse part. A column of tiny values may have no finer
  // step.
  std::int32_t fine_part(double value, std::int32_t coarse_part) const {
    return fine > 0 ? nearest((value - coarse_part * coarse) / fine) : 0;
  }

  double coarse;
  double fine;
};

// Digit `which` (0 is the lowest) of a number from -kMostFixed to kMostFixed.
inline std::int8_t digit(std::int32_t number, int which) {
  // After adding 64 to each, the digits are bits 0 to 6, 7 to 13, ... of a nonnegative number.
  constexpr std::int32_t shift = 64 * (1 + 128 + 128 * 128 + 128 * 128 * 128);
  return static_cast<std::int8_t>(((number + shift) >> (7 * which) & 127) - 64);
}

// Digits base 16384 of the same numbers, for products with dosages.
constexpr std::int64_t kWideDigits = 2;
constexpr std::int64_t kWideBase = std::int64_t{128} * 128;
constexpr std::int64_t kMostWideDigit = std::int64_t{64} * 129;

inline std::int16_t wide_digit(std::int32_t number, int which) {
  return static_cast<std::int16_t>(digit(number, 2 * which) + 128 * digit(number, 2 * which + 1));
}

// The sum of numbers, from the sums of their digits.
ANCIFY_HOST_DEVICE inline std::int64_t join_digits(std::int64_t d0, std::int64_t d1,
                                                   std::int64_t d2, std::int64_t d3) {
  return d0 + 128 * (d1 + 128 * (d2 + 128 * d3));
}

}  // namespace ancify
