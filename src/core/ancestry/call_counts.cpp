#include "core/ancestry/call_counts.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  high += other.high;
  low += other.low;
  unresolved += other.unresolved;
  missing += other.missing;
  return *this;
}

namespace {

// Counts are kept in bytes, which a stretch of this length cannot overflow.
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

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 CallCounts count_avx2(const char* calls, std::size_t n) {
  return count(calls, n);
}
ANCIFY_TARGET_AVX512 CallCounts count_avx512(const char* calls, std::size_t n) {
  return count(calls, n);
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

}  // namespace ancify
