// Transposes 4 x 4 calls of 2 bits by two bit exchanges, and counts calls byte by byte.
#include "core/genotypes/quads.h"

#include <algorithm>
#include <cstring>

namespace ancify {

namespace {

// Exchanges the bits of `mask` with those `shift` places higher.
inline std::uint32_t exchange(std::uint32_t word, int shift, std::uint32_t mask) {
  const std::uint32_t differ = (word ^ (word >> shift)) & mask;
  return word ^ differ ^ (differ << shift);
}

// Byte v of `word` has the calls of variant v; byte s of the result has the calls of sample s.
inline std::uint32_t transpose_calls(std::uint32_t word) {
  return exchange(exchange(word, 6, 0x00CC00CC), 12, 0x0000F0F0);
}

// Transposes four samples at a time; `out` has space for a multiple of four.
void pack_all(const std::array<const std::uint8_t*, kQuad>& rows, std::int64_t bytes,
              std::uint8_t* out) {
  const std::uint8_t* const a = rows[0];
  const std::uint8_t* const b = rows[1];
  const std::uint8_t* const c = rows[2];
  const std::uint8_t* const d = rows[3];
  for (std::int64_t i = 0; i < bytes; ++i) {
    const std::uint32_t word = transpose_calls(
        static_cast<std::uint32_t>(a[i]) | static_cast<std::uint32_t>(b[i]) << 8 |
        static_cast<std::uint32_t>(c[i]) << 16 | static_cast<std::uint32_t>(d[i]) << 24);
    std::memcpy(out + 4 * i, &word, sizeof word);
  }
}

// Few enough samples that a byte can count them.
constexpr std::int64_t kStretch = 192;

struct QuadCounts {
  std::array<std::uint8_t, kQuad> low{};
  std::array<std::uint8_t, kQuad> high{};
  std::array<std::uint8_t, kQuad> both{};
};

ANCIFY_ALWAYS_INLINE void count_stretch(const std::uint8_t* row, std::int64_t n,
                                        std::array<VariantCounts, kQuad>& counts) {
  QuadCounts sums;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::size_t v = 0; v < kQuad; ++v) {
      const auto call = static_cast<std::uint8_t>(row[i] >> (2 * v));
      sums.low[v] = static_cast<std::uint8_t>(sums.low[v] + (call & 1));
      sums.high[v] = static_cast<std::uint8_t>(sums.high[v] + (call >> 1 & 1));
      sums.both[v] = static_cast<std::uint8_t>(sums.both[v] + (call & call >> 1 & 1));
    }
  }
  for (std::size_t v = 0; v < kQuad; ++v) {
    counts[v].one += sums.low[v] - sums.both[v];
    counts[v].two += sums.high[v] - sums.both[v];
    counts[v].missing += sums.both[v];
  }
}

ANCIFY_ALWAYS_INLINE std::array<VariantCounts, kQuad> count(const std::uint8_t* row,
                                                            std::int64_t n) {
  std::array<VariantCounts, kQuad> counts{};
  const std::int64_t whole = n / kStretch * kStretch;
  for (std::int64_t at = 0; at < whole; at += kStretch) count_stretch(row + at, kStretch, counts);
  count_stretch(row + whole, n - whole, counts);
  return counts;
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 std::array<VariantCounts, kQuad> count_avx2(const std::uint8_t* row,
                                                               std::int64_t n) {
  return count(row, n);
}
ANCIFY_TARGET_AVX512 std::array<VariantCounts, kQuad> count_avx512(const std::uint8_t* row,
                                                                   std::int64_t n) {
  return count(row, n);
}
#endif

}  // namespace

void pack_quad(const std::array<const std::uint8_t*, kQuad>& rows, std::int64_t n_in_file,
               const std::int64_t* samples, std::int64_t n, std::uint8_t* row) {
  const std::int64_t bytes = (n_in_file + 3) / 4;
  std::vector<std::uint8_t> zeros;
  auto present = rows;
  for (auto& one : present) {
    if (one != nullptr) continue;
    zeros.resize(static_cast<std::size_t>(bytes));
    one = zeros.data();
  }
  if (samples == nullptr) {
    pack_all(present, bytes, row);
  } else {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(4 * bytes));
    pack_all(present, bytes, all.data());
    for (std::int64_t i = 0; i < n; ++i) row[i] = all[static_cast<std::size_t>(samples[i])];
  }
  std::fill(row + n, row + quad_stride(n), std::uint8_t{0});
}

void mark_missing(const std::uint8_t* row, std::int64_t n, std::uint8_t* marks) {
  for (std::int64_t i = 0; i < n; ++i) {
    marks[i] = static_cast<std::uint8_t>(row[i] & row[i] >> 1 & 0x55);
  }
}

std::array<VariantCounts, kQuad> count_quad(const std::uint8_t* row, std::int64_t n,
                                            [[maybe_unused]] SimdLevel simd) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return count_avx512(row, n);
  if (simd == SimdLevel::kAvx2) return count_avx2(row, n);
#endif
  return count(row, n);
}

}  // namespace ancify
