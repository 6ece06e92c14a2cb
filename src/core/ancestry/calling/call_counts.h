// Counts of calls by confidence, and of the agreement of two sequences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genome/bases.h"

namespace ancify {

// The confidence of a call: ACGT; acgt; n; anything else.
enum class Confidence : std::uint8_t { kHigh, kLow, kUnresolved, kMissing };

constexpr Confidence confidence_of(char call) {
  if (call == 'n') return Confidence::kUnresolved;
  if (base_code(call) == kMissing) return Confidence::kMissing;
  return (call & 0x20) != 0 ? Confidence::kLow : Confidence::kHigh;
}

// True if a letter is a call, or marks an absent call in references: ACGTacgtnN, - or `.`.
constexpr bool is_call(char c) {
  return base_code(c) != kMissing || c == 'n' || c == 'N' || c == '-' || c == '.';
}

// The number of positions with ACGT, acgt, n and N.
struct CallCounts {
  std::int64_t high = 0;
  std::int64_t low = 0;
  std::int64_t unresolved = 0;
  std::int64_t missing = 0;

  CallCounts& operator+=(const CallCounts& other);
};

// Counts n calls, all of which must be ACGTacgtnN.
CallCounts count_calls(const char* calls, std::size_t n, SimdLevel level);

// The number of positions at which the first sequence, the second, and both have a base, and at
// which the bases are equal. Case is ignored.
struct AgreementCounts {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t both = 0;
  std::int64_t equal = 0;

  AgreementCounts& operator+=(const AgreementCounts& other);
};

// Compares n positions of two sequences, which may hold any letters.
AgreementCounts count_agreement(const char* first, const char* second, std::size_t n,
                                SimdLevel level);

}  // namespace ancify
