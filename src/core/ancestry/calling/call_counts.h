// How sure the calls of a sequence are, and how they agree with others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// Of one call: A, C, G or T; a, c, g or t; n; anything else.
enum class Confidence : std::uint8_t { kHigh, kLow, kUnresolved, kMissing };

constexpr Confidence confidence_of(char call) {
  if (call == 'n') return Confidence::kUnresolved;
  if (base_code(call) == kMissing) return Confidence::kMissing;
  return (call & 0x20) != 0 ? Confidence::kLow : Confidence::kHigh;
}

// Calls, and how references say that there is none: ACGT, acgt, n, N, - and `.`.
constexpr bool is_call(char c) {
  return base_code(c) != kMissing || c == 'n' || c == 'N' || c == '-' || c == '.';
}

// How many positions are ACGT, acgt, n and N.
struct CallCounts {
  std::int64_t high = 0;
  std::int64_t low = 0;
  std::int64_t unresolved = 0;
  std::int64_t missing = 0;

  CallCounts& operator+=(const CallCounts& other);
};

CallCounts count_calls(const char* calls, std::size_t n, SimdLevel level);

// Two sequences of calls, or of any bases: at how many positions each has one, case ignored.
struct AgreementCounts {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t both = 0;
  std::int64_t equal = 0;

  AgreementCounts& operator+=(const AgreementCounts& other);
};

AgreementCounts count_agreement(const char* first, const char* second, std::size_t n,
                                SimdLevel level);

}  // namespace ancify
