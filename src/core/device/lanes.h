// Values in the lanes of a register, by the vector extensions of GCC and clang. A kernel takes the
// register width of its level as a parameter: GCC 12 keeps wider vectors in memory, where each load
// waits for the stores.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/device/simd.h"

namespace ancify {

// Doubles in a register of each level. Every 64-bit processor has registers of 16 bytes.
using PlainLanes = double __attribute__((vector_size(16)));
using Avx2Lanes = double __attribute__((vector_size(32)));
using Avx512Lanes = double __attribute__((vector_size(64)));

// The number of doubles in a register.
template <class Lanes>
constexpr std::size_t kLanesIn = sizeof(Lanes) / sizeof(double);

// Values may be at any address. Vectors are not returned, as the calling convention would differ
// between levels.
template <class Lanes, class Number>
ANCIFY_ALWAYS_INLINE void load(const Number* from, Lanes& to) {
  Lanes value;  // in a register: GCC copies an element of an array in halves
  std::memcpy(&value, from, sizeof(Lanes));
  to = value;
}

template <class Lanes, class Number>
ANCIFY_ALWAYS_INLINE void store(const Lanes& from, Number* to) {
  const Lanes value = from;
  std::memcpy(to, &value, sizeof(Lanes));
}

// The elements of two vectors by index, counting on from the first vector to the second, as one
// vector.
#if defined(__clang__)
#define ANCIFY_SHUFFLE(first, second, ...) __builtin_shufflevector(first, second, __VA_ARGS__)
#else
#define ANCIFY_SHUFFLE(first, second, ...) \
  __builtin_shuffle(first, second, decltype((first) == (second)){__VA_ARGS__})
#endif

// This many doubles, in one register or several.
template <class Lanes, std::size_t kNumbers>
struct LaneBlock {
  static constexpr std::size_t kRegisters = kNumbers / kLanesIn<Lanes>;
  static_assert(kRegisters * kLanesIn<Lanes> == kNumbers, "registers are full");
  Lanes lanes[kRegisters];

  ANCIFY_ALWAYS_INLINE void load_from(const double* from) {
    for (std::size_t r = 0; r < kRegisters; ++r) load(from + r * kLanesIn<Lanes>, lanes[r]);
  }
  ANCIFY_ALWAYS_INLINE void store_to(double* to) const {
    for (std::size_t r = 0; r < kRegisters; ++r) store(lanes[r], to + r * kLanesIn<Lanes>);
  }
};

}  // namespace ancify
