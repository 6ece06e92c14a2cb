// Counts calls by confidence, and the agreement of two sequences, with vector instructions where
// possible.
#include "core/ancestry/calling/call_counts.h"

#include "core/genome/bases.h"

namespace ancify {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  high += other.high;
  low += other.low;
  unresolved += other.unresolved;
  missing += other.missing;
  return *this;
}

AgreementCounts& AgreementCounts::operator+=(const AgreementCounts& other) {
  first += other.first;
  second += other.second;
  both += other.both;
  equal += other.equal;
  return *this;
}

namespace {

// Counts are kept in bytes, which do not overflow in a stretch of this length.
constexpr std::size_t kStretch = 128;

ANCIFY_ALWAYS_INLINE void count_stretch(const char* calls, std::size_t n, CallCounts& counts) {
  std::uint8_t missing = 0;
  std::uint8_t unresolved = 0;
  std::uint8_t lower_case = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t is_missing = calls[i] == 'N' ? 1 : 0;
    const std::uint8_t is_unresolved = calls[i] == 'n' ? 1 : 0;
    const std::uint8_t is_lower_case = (calls[i] & 0x20) != 0 ? 1 : 0;
    missing = static_cast<std::uint8_t>(missing + is_missing);
    unresolved = static_cast<std::uint8_t>(unresolved + is_unresolved);
    lower_case = static_cast<std::uint8_t>(lower_case + is_lower_case);
  }
  counts.missing += missing;
  counts.unresolved += unresolved;
  counts.low += lower_case - unresolved;
}

ANCIFY_ALWAYS_INLINE CallCounts count(const char* calls, std::size_t n) {
  CallCounts counts;
  const std::size_t whole = n / kStretch * kStretch;
  for (std::size_t at = 0; at < whole; at += kStretch) count_stretch(calls + at, kStretch, counts);
  count_stretch(calls + whole, n - whole, counts);
  counts.high = static_cast<std::int64_t>(n) - counts.low - counts.unresolved - counts.missing;
  return counts;
}

constexpr int kUpperCase = 0xdf;

// Sums in bytes: compilers turn base_code(c) != kMissing into branches, not vector code.
ANCIFY_ALWAYS_INLINE std::uint8_t count_base(std::uint8_t upper) {
  const std::uint8_t a = upper == 'A' ? 1 : 0;
  const std::uint8_t c = upper == 'C' ? 1 : 0;
  const std::uint8_t g = upper == 'G' ? 1 : 0;
  const std::uint8_t t = upper == 'T' ? 1 : 0;
  return static_cast<std::uint8_t>(a + c + g + t);
}

ANCIFY_ALWAYS_INLINE void compare_stretch(const char* first, const char* second, std::size_t n,
                                          AgreementCounts& counts) {
  std::uint8_t in_first = 0;
  std::uint8_t in_second = 0;
  std::uint8_t in_both = 0;
  std::uint8_t equal = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = static_cast<std::uint8_t>(first[i] & kUpperCase);
    const auto b = static_cast<std::uint8_t>(second[i] & kUpperCase);
    const std::uint8_t has_a = count_base(a);
    const std::uint8_t has_b = count_base(b);
    const std::uint8_t same = a == b ? 1 : 0;
    in_first = static_cast<std::uint8_t>(in_first + has_a);
    in_second = static_cast<std::uint8_t>(in_second + has_b);
    in_both = static_cast<std::uint8_t>(in_both + (has_a & has_b));
    equal = static_cast<std::uint8_t>(equal + (has_a & same));
  }
  counts += {in_first, in_second, in_both, equal};
}

ANCIFY_ALWAYS_INLINE AgreementCounts compare(const char* first, const char* second, std::size_t n) {
  AgreementCounts counts;
  const std::size_t whole = n / kStretch * kStretch;
  for (std::size_t at = 0; at < whole; at += kStretch) {
    compare_stretch(first + at, second + at, kStretch, counts);
  }
  compare_stretch(first + whole, second + whole, n - whole, counts);
  return counts;
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 CallCounts count_avx2(const char* calls, std::size_t n) {
  return count(calls, n);
}
ANCIFY_TARGET_AVX512 CallCounts count_avx512(const char* calls, std::size_t n) {
  return count(calls, n);
}
ANCIFY_TARGET_AVX2 AgreementCounts compare_avx2(const char* first, const char* second,
                                                std::size_t n) {
  return compare(first, second, n);
}
ANCIFY_TARGET_AVX512 AgreementCounts compare_avx512(const char* first, const char* second,
                                                    std::size_t n) {
  return compare(first, second, n);
}
#endif

}  // namespace

CallCounts count_calls(const char* calls, std::size_t n, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return count_avx512(calls, n);
  if (level == SimdLevel::kAvx2) return count_avx2(calls, n);
#endif
  (void)level;
  return count(calls, n);
}

AgreementCounts count_agreement(const char* first, const char* second, std::size_t n,
                                SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return compare_avx512(first, second, n);
  if (level == SimdLevel::kAvx2) return compare_avx2(first, second, n);
#endif
  (void)level;
  return compare(first, second, n);
}

}  // namespace ancify
