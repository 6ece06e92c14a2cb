// Multiplies calls from 0 to 3 by digits from -64 to 63. With AVX-512, VPDPBUSD adds four products
// of bytes to a 32-bit sum; with AVX2, VPMADDUBSW adds two to a 16-bit one. No sum can overflow:
// 85 products of 2 * 3 * 64 fit 16 bits.
#include "core/genotypes/block_sums.h"

#include <algorithm>

#include "core/genotypes/fixed_point.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

void sum_over_samples_scalar(const std::uint8_t* row, const std::int8_t* digits, std::int64_t n,
                             std::array<std::int64_t, kQuad>& sums) {
  for (std::int64_t v = 0; v < kQuad; ++v) {
    std::array<std::int32_t, kNumberDigits> of_digits{};
    for (std::size_t d = 0; d < kNumberDigits; ++d) {
      const std::int8_t* const column = digits + d * kTileSamples;
      for (std::int64_t i = 0; i < n; ++i) {
        of_digits[d] += static_cast<std::int32_t>(call_in_quad(row[i], v)) * column[i];
      }
    }
    sums[static_cast<std::size_t>(v)] +=
        join_digits(of_digits[0], of_digits[1], of_digits[2], of_digits[3]);
  }
}

void expand_calls_scalar(const std::uint8_t* rows, std::int64_t stride, int quads,
                         ExpandedCalls& calls) {
  std::uint8_t* out = calls.data();
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    for (std::int64_t i = 0; i < kLaneSamples; ++i) {
      for (std::int64_t v = 0; v < kQuad; ++v) {
        *out++ = static_cast<std::uint8_t>(call_in_quad(rows[quad * stride + i], v));
      }
    }
  }
}

void sum_over_variants_scalar(const ExpandedCalls& calls, const std::int8_t* digits, int quads,
                              std::array<double, kLaneSamples>& sums) {
  for (std::size_t i = 0; i < kLaneSamples; ++i) {
    std::array<std::int32_t, kNumberDigits> of_digits{};
    for (std::int64_t quad = 0; quad < quads; ++quad) {
      const std::uint8_t* const of_sample =
          &calls[(static_cast<std::size_t>(quad) * kLaneSamples + i) * kQuad];
      const std::int8_t* const of_quad =
          digits + static_cast<std::ptrdiff_t>(quad) * kNumberDigits * kQuad;
      for (std::size_t d = 0; d < kNumberDigits; ++d) {
        for (std::size_t v = 0; v < kQuad; ++v)
          of_digits[d] += of_sample[v] * of_quad[d * kQuad + v];
      }
    }
    sums[i] =
        static_cast<double>(join_digits(of_digits[0], of_digits[1], of_digits[2], of_digits[3]));
  }
}

#if defined(__x86_64__)

constexpr int kDword = 4;

// Adds to each of 32-bit sums the products of four calls and four digits. For the intrinsic,
// _mm512_dpbusd_epi32(), GCC 12 copies the sums first, which takes a third of the time.
ANCIFY_TARGET_AVX512 ANCIFY_ALWAYS_INLINE __m512i add_products(__m512i sums, __m512i calls,
                                                               __m512i digits) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(calls), "v"(digits));
  return sums;
}

// The sums of the 32-bit numbers of each of four vectors.
ANCIFY_TARGET_AVX512 ANCIFY_ALWAYS_INLINE __m128i sums_of_four(const __m512i* vectors) {
  const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(vectors[0], vectors[1]),
                                     _mm512_unpackhi_epi32(vectors[0], vectors[1]));
  const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(vectors[2], vectors[3]),
                                     _mm512_unpackhi_epi32(vectors[2], vectors[3]));
  const __m512i c = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m256i d = _mm256_add_epi32(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1));
}

ANCIFY_TARGET_AVX512 void sum_over_samples_avx512(const std::uint8_t* row, std::int64_t next,
                                                  const std::int8_t* digits, std::int64_t n,
                                                  std::array<std::int64_t, kQuad>& sums) {
  const __m512i mask = _mm512_set1_epi8(3);
  __m512i sum[kQuad][kNumberDigits];
  for (auto& of_variant : sum) {
    for (auto& one : of_variant) one = _mm512_setzero_si512();
  }
  for (std::int64_t i = 0; i < n; i += 64) {
    __builtin_prefetch(row + i + next);
    const __m512i calls = _mm512_loadu_si512(row + i);
    __m512i of_variant[kQuad];
    of_variant[0] = _mm512_and_si512(calls, mask);
    of_variant[1] = _mm512_and_si512(_mm512_srli_epi16(calls, 2), mask);
    of_variant[2] = _mm512_and_si512(_mm512_srli_epi16(calls, 4), mask);
    of_variant[3] = _mm512_and_si512(_mm512_srli_epi16(calls, 6), mask);
    for (std::int64_t d = 0; d < kNumberDigits; ++d) {
      const __m512i column = _mm512_loadu_si512(digits + d * kTileSamples + i);
      for (std::int64_t v = 0; v < kQuad; ++v) {
        sum[v][d] = add_products(sum[v][d], of_variant[v], column);
      }
    }
  }
  for (std::int64_t v = 0; v < kQuad; ++v) {
    alignas(16) std::array<std::int32_t, kNumberDigits> all;
    _mm_store_si128(reinterpret_cast<__m128i*>(all.data()), sums_of_four(sum[v]));
    sums[static_cast<std::size_t>(v)] += join_digits(all[0], all[1], all[2], all[3]);
  }
}

ANCIFY_TARGET_AVX512 void expand_calls_avx512(const std::uint8_t* rows, std::int64_t stride,
                                              int quads, ExpandedCalls& calls) {
  const __m512i mask = _mm512_set1_epi8(3);
  // Of two samples in the low bytes of two 32-bit words: the bits from 0, 2, 4 and 6 on of each.
  const __m512i shifts = _mm512_set1_epi64(0x2624222006040200);
  std::uint8_t* out = calls.data();
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    for (std::int64_t i = 0; i < kLaneSamples; i += 16, out += 64) {
      const __m512i words = _mm512_cvtepu8_epi32(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + quad * stride + i)));
      _mm512_storeu_si512(out, _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, words), mask));
    }
  }
}

ANCIFY_TARGET_AVX512 void sum_over_variants_avx512(const ExpandedCalls& calls,
                                                   const std::int8_t* digits, int quads,
                                                   std::array<double, kLaneSamples>& sums) {
  constexpr std::int64_t kVectors = 4;  // of 16 samples
  __m512i sum[kVectors][kNumberDigits];
  for (auto& of_samples : sum) {
    for (auto& one : of_samples) one = _mm512_setzero_si512();
  }
  const std::uint8_t* of_quad = calls.data();
  for (std::int64_t quad = 0; quad < quads; ++quad, of_quad += kVectors * 64) {
    __m512i of_samples[kVectors];
    for (std::int64_t i = 0; i < kVectors; ++i)
      of_samples[i] = _mm512_loadu_si512(of_quad + 64 * i);
    for (std::int64_t d = 0; d < kNumberDigits; ++d, digits += kQuad) {
      std::int32_t word;
      __builtin_memcpy(&word, digits, kDword);
      const __m512i numbers = _mm512_set1_epi32(word);
      for (std::int64_t i = 0; i < kVectors; ++i) {
        sum[i][d] = add_products(sum[i][d], of_samples[i], numbers);
      }
    }
  }
  for (std::int64_t i = 0; i < kVectors; ++i) {
    const __m512i low = _mm512_add_epi32(sum[i][0], _mm512_slli_epi32(sum[i][1], 7));
    const __m512i high = _mm512_add_epi32(sum[i][2], _mm512_slli_epi32(sum[i][3], 7));
    const __m512d scale = _mm512_set1_pd(1 << 14);
    const auto join = [&](__m256i of_low, __m256i of_high) ANCIFY_TARGET_AVX512 {
      // All of these are exact.
      return _mm512_add_pd(_mm512_cvtepi32_pd(of_low),
                           _mm512_mul_pd(_mm512_cvtepi32_pd(of_high), scale));
    };
    double* const out = sums.data() + 16 * i;
    _mm512_storeu_pd(out, join(_mm512_castsi512_si256(low), _mm512_castsi512_si256(high)));
    _mm512_storeu_pd(out + 8,
                     join(_mm512_extracti64x4_epi64(low, 1), _mm512_extracti64x4_epi64(high, 1)));
  }
}

// Iterations after which 16-bit sums are added to 32-bit ones.
constexpr std::int64_t kNarrow = 2048;

ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE std::int32_t sum_avx2(__m256i v) {
  const __m128i a = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  const __m128i b = _mm_add_epi32(a, _mm_shuffle_epi32(a, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(b, _mm_shuffle_epi32(b, 0xb1)));
}

// Two variants of a quad, those at bits `shift` and `shift` + 2.
template <int shift>
ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE void sum_two_avx2(const std::uint8_t* row,
                                                          std::int64_t next,
                                                          const std::int8_t* digits, std::int64_t n,
                                                          std::array<std::int64_t, kQuad>& sums) {
  const __m256i mask = _mm256_set1_epi8(3);
  const __m256i ones = _mm256_set1_epi16(1);
  std::array<std::array<std::int32_t, kNumberDigits>, 2> all{};
  for (std::int64_t begin = 0; begin < n; begin += kNarrow) {
    __m256i sum[2][kNumberDigits];
    for (auto& of_variant : sum) {
      for (auto& one : of_variant) one = _mm256_setzero_si256();
    }
    for (std::int64_t i = begin; i < std::min(n, begin + kNarrow); i += 32) {
      __builtin_prefetch(row + i + next);
      const __m256i calls = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i));
      const __m256i first = _mm256_and_si256(_mm256_srli_epi16(calls, shift), mask);
      const __m256i second = _mm256_and_si256(_mm256_srli_epi16(calls, shift + 2), mask);
      for (std::int64_t d = 0; d < kNumberDigits; ++d) {
        const __m256i column =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(digits + d * kTileSamples + i));
        sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(first, column));
        sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(second, column));
      }
    }
    for (std::size_t v = 0; v < 2; ++v) {
      for (std::size_t d = 0; d < kNumberDigits; ++d) {
        all[v][d] += sum_avx2(_mm256_madd_epi16(sum[v][d], ones));
      }
    }
  }
  for (std::size_t v = 0; v < 2; ++v) {
    sums[shift / 2 + v] += join_digits(all[v][0], all[v][1], all[v][2], all[v][3]);
  }
}

ANCIFY_TARGET_AVX2 void sum_over_samples_avx2(const std::uint8_t* row, std::int64_t next,
                                              const std::int8_t* digits, std::int64_t n,
                                              std::array<std::int64_t, kQuad>& sums) {
  sum_two_avx2<0>(row, next, digits, n, sums);
  sum_two_avx2<4>(row, next, digits, n, sums);
}

ANCIFY_TARGET_AVX2 void expand_calls_avx2(const std::uint8_t* rows, std::int64_t stride, int quads,
                                          ExpandedCalls& calls) {
  const __m256i mask = _mm256_set1_epi32(0x03030303);
  std::uint8_t* out = calls.data();
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    for (std::int64_t i = 0; i < kLaneSamples; i += 8, out += 32) {
      const __m256i byte = _mm256_cvtepu8_epi32(
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows + quad * stride + i)));
      const __m256i two = _mm256_or_si256(byte, _mm256_slli_epi32(byte, 6));
      const __m256i four = _mm256_or_si256(two, _mm256_slli_epi32(two, 12));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_and_si256(four, mask));
    }
  }
}

ANCIFY_TARGET_AVX2 void sum_over_variants_avx2(const ExpandedCalls& calls,
                                               const std::int8_t* digits, int quads,
                                               std::array<double, kLaneSamples>& sums) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t i = 0; i < kLaneSamples; i += 16) {
    __m256i sum[2][kNumberDigits];  // of 8 samples each
    for (auto& of_samples : sum) {
      for (auto& one : of_samples) one = _mm256_setzero_si256();
    }
    for (std::int64_t quad = 0; quad < quads; ++quad) {
      const auto* const of_quad =
          reinterpret_cast<const __m256i*>(calls.data() + (quad * kLaneSamples + i) * kQuad);
      const __m256i first = _mm256_loadu_si256(of_quad);
      const __m256i second = _mm256_loadu_si256(of_quad + 1);
      for (std::int64_t d = 0; d < kNumberDigits; ++d) {
        std::int32_t word;
        __builtin_memcpy(&word, digits + (quad * kNumberDigits + d) * kQuad, kDword);
        const __m256i numbers = _mm256_set1_epi32(word);
        sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(first, numbers));
        sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(second, numbers));
      }
    }
    for (std::int64_t k = 0; k < 2; ++k) {
      __m256i of_digit[kNumberDigits];
      for (std::int64_t d = 0; d < kNumberDigits; ++d)
        of_digit[d] = _mm256_madd_epi16(sum[k][d], ones);
      const __m256i low = _mm256_add_epi32(of_digit[0], _mm256_slli_epi32(of_digit[1], 7));
      const __m256i high = _mm256_add_epi32(of_digit[2], _mm256_slli_epi32(of_digit[3], 7));
      const __m256d scale = _mm256_set1_pd(1 << 14);
      double* const out = sums.data() + i + 8 * k;
      _mm256_storeu_pd(
          out,
          _mm256_add_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(low)),
                        _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(high)), scale)));
      _mm256_storeu_pd(
          out + 4,
          _mm256_add_pd(
              _mm256_cvtepi32_pd(_mm256_extracti128_si256(low, 1)),
              _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(high, 1)), scale)));
    }
  }
}

#endif

}  // namespace

void sum_over_samples(const std::uint8_t* row, [[maybe_unused]] std::int64_t next,
                      const std::int8_t* digits, std::int64_t n, [[maybe_unused]] SimdLevel simd,
                      std::array<std::int64_t, kQuad>& sums) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return sum_over_samples_avx512(row, next, digits, n, sums);
  if (simd == SimdLevel::kAvx2) return sum_over_samples_avx2(row, next, digits, n, sums);
#endif
  sum_over_samples_scalar(row, digits, n, sums);
}

void expand_calls(const std::uint8_t* rows, std::int64_t stride, int quads,
                  [[maybe_unused]] SimdLevel simd, ExpandedCalls& calls) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return expand_calls_avx512(rows, stride, quads, calls);
  if (simd == SimdLevel::kAvx2) return expand_calls_avx2(rows, stride, quads, calls);
#endif
  expand_calls_scalar(rows, stride, quads, calls);
}

void sum_over_variants(const ExpandedCalls& calls, const std::int8_t* digits, int quads,
                       [[maybe_unused]] SimdLevel simd, std::array<double, kLaneSamples>& sums) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return sum_over_variants_avx512(calls, digits, quads, sums);
  if (simd == SimdLevel::kAvx2) return sum_over_variants_avx2(calls, digits, quads, sums);
#endif
  sum_over_variants_scalar(calls, digits, quads, sums);
}

}  // namespace ancify
