// Multiplies calls from 0 to 3, or dosages, by digits from -64 to 63, with the vectors of the level
// for which this is compiled. AVX-512 adds four products of bytes to a 32-bit sum. The others add
// two to a 16-bit sum, which holds kMostPairs of them: 85 * 2 * 3 * 64 fits 16 bits.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/genotypes/block_sums.h"
#include "core/genotypes/fixed_point.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ancify {

namespace {

#if defined(__AVX512VNNI__)
constexpr std::int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::int64_t kVectorBytes = 32;
#else
constexpr std::int64_t kVectorBytes = 16;
#endif

using Bytes = std::uint8_t __attribute__((vector_size(kVectorBytes)));
using Halves = std::int16_t __attribute__((vector_size(kVectorBytes)));
using Words = std::int32_t __attribute__((vector_size(kVectorBytes)));
using FourWords = std::int32_t __attribute__((vector_size(16)));

constexpr std::int64_t kMostPairs = 85;
static_assert(kBlockVariants / kQuad <= kMostPairs, "sums over variants fit 16 bits");

// Samples between additions of 16-bit sums to 32-bit sums.
constexpr std::int64_t kNarrowSamples = 64 * kVectorBytes;
static_assert(kNarrowSamples / kVectorBytes <= kMostPairs, "sums over samples fit 16 bits");

// Samples of expanded calls in a vector.
constexpr std::int64_t kSamples = kVectorBytes / kQuad;

// Vectors of calls whose sums for all digits stay in registers.
constexpr int kTogether = kVectorBytes == 64 ? 4 : 2;

template <class Vector>
inline void load(const void* from, Vector& to) {
  std::memcpy(&to, from, sizeof(Vector));
}

#if defined(__AVX512VNNI__)

using Sums = Words;

// GCC 12 copies the sums before the intrinsic _mm512_dpbusd_epi32(), which costs a third of the
// time.
inline void add_products(Sums& sums, const Bytes& calls, const Bytes& digits) {
  Sums result = sums;  // in a register
  asm("vpdpbusd %2, %1, %0" : "+v"(result) : "v"(calls), "v"(digits));
  sums = result;
}

inline Words widened(const Sums& sums) { return sums; }

#else

using Sums = Halves;

inline void add_products(Sums& sums, const Bytes& calls, const Bytes& digits) {
#if defined(__AVX2__)
  sums += (Halves)_mm256_maddubs_epi16((__m256i)calls, (__m256i)digits);
#else
  const auto of_calls = (Halves)calls;
  const auto of_digits = (Halves)digits;
  sums += (of_calls & 0xff) * ((of_digits << 8) >> 8) + (of_calls >> 8) * (of_digits >> 8);
#endif
}

// Adds neighbours.
inline Words widened(const Sums& sums) {
  const auto pairs = (Words)sums;
  return ((pairs << 16) >> 16) + (pairs >> 16);
}

#endif

// Adds the quarters of a vector, or its halves, to one vector of four words.
inline FourWords folded(const Words& words) {
#if defined(__AVX512VNNI__)
  const auto low = _mm512_castsi512_si256((__m512i)words);
  const auto half = _mm256_add_epi32(low, _mm512_extracti64x4_epi64((__m512i)words, 1));
  return (FourWords)_mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
#elif defined(__AVX2__)
  const auto all = (__m256i)words;
  return (FourWords)_mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
#else
  return words;
#endif
}

inline std::int64_t total(const Sums& sums) {
  const FourWords words = folded(widened(sums));
  return std::int64_t{words[0]} + words[1] + words[2] + words[3];
}

// GCC 12 keeps a table in registers only if a loop clears it.
inline void clear(Sums (&sums)[kTogether][kNumberDigits]) {
  for (auto& of_calls : sums) {
    for (auto& sum : of_calls) sum = Sums{};
  }
}

// Adds kTogether vectors of a quad's variant, whose calls start at bit `shift`.
template <int shift>
inline void sum_some_over_samples(const std::uint8_t* row, std::int64_t next,
                                  const std::int8_t* digits, std::int64_t n, std::int64_t* sums) {
  std::int64_t all[kTogether][kNumberDigits] = {};
  for (std::int64_t begin = 0; begin < n; begin += kNarrowSamples) {
    Sums sum[kTogether][kNumberDigits];
    clear(sum);
    for (std::int64_t i = begin; i < std::min(n, begin + kNarrowSamples); i += kVectorBytes) {
      __builtin_prefetch(row + i + next);
      Halves packed;
      load(row + i, packed);
      Bytes calls[kTogether];
      for (int v = 0; v < kTogether; ++v) {
        calls[v] = (Bytes)(packed >> static_cast<std::int16_t>(shift + 2 * v)) & 3;
      }
      for (int d = 0; d < kNumberDigits; ++d) {
        Bytes column;
        load(digits + d * kTileSamples + i, column);
        for (int v = 0; v < kTogether; ++v) add_products(sum[v][d], calls[v], column);
      }
    }
    for (int v = 0; v < kTogether; ++v) {
      for (int d = 0; d < kNumberDigits; ++d) all[v][d] += total(sum[v][d]);
    }
  }
  for (int v = 0; v < kTogether; ++v) {
    sums[shift / 2 + v] += join_digits(all[v][0], all[v][1], all[v][2], all[v][3]);
  }
}

void sum_over_samples(const std::uint8_t* row, std::int64_t next, const std::int8_t* digits,
                      std::int64_t n, std::int64_t* sums) {
  sum_some_over_samples<0>(row, next, digits, n, sums);
  if constexpr (kTogether < kQuad) sum_some_over_samples<4>(row, next, digits, n, sums);
}

// The four calls of each sample of a lane.
inline void expand_lane(const std::uint8_t* samples, std::uint8_t* calls) {
#if defined(__AVX2__)
  for (std::int64_t i = 0; i < kLaneSamples; i += kSamples) {
#if defined(__AVX512VNNI__)
    const auto bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)(samples + i)));
    // For two samples in the low bytes of words: shifts to bits 0, 2, 4 and 6 of each.
    const auto shifts = _mm512_set1_epi64(0x2624222006040200);
    const auto with_others = (Words)_mm512_multishift_epi64_epi8(shifts, bytes);
#else
    const auto bytes = (Words)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(samples + i)));
    const Words two = bytes | bytes << 6;
    const Words with_others = two | two << 12;
#endif
    const Words four = with_others & 0x03030303;
    std::memcpy(calls + i * kQuad, &four, kVectorBytes);
  }
#else
  for (std::int64_t i = 0; i < kLaneSamples; ++i) {
    for (int v = 0; v < kQuad; ++v) {
      calls[i * kQuad + v] = static_cast<std::uint8_t>(call_in_quad(samples[i], v));
    }
  }
#endif
}

void expand_calls(const std::uint8_t* rows, std::int64_t stride, int quads, std::uint8_t* calls) {
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    expand_lane(rows + quad * stride, calls + quad * kLaneSamples * kQuad);
  }
}

void sum_over_variants(const std::uint8_t* calls, const std::int8_t* digits, int quads,
                       double* sums) {
  for (std::int64_t i = 0; i < kLaneSamples; i += kTogether * kSamples) {
    Sums sum[kTogether][kNumberDigits];
    clear(sum);
    for (std::int64_t quad = 0; quad < quads; ++quad) {
      Bytes of_samples[kTogether];
      for (int k = 0; k < kTogether; ++k) {
        load(calls + (quad * kLaneSamples + i + k * kSamples) * kQuad, of_samples[k]);
      }
      for (int d = 0; d < kNumberDigits; ++d) {
        std::int32_t four;
        std::memcpy(&four, digits + (quad * kNumberDigits + d) * kQuad, sizeof(four));
        const auto of_quad = (Bytes)(four - Words{});
        for (int k = 0; k < kTogether; ++k) add_products(sum[k][d], of_samples[k], of_quad);
      }
    }
    for (int k = 0; k < kTogether; ++k) {
      const Words low = widened(sum[k][0]) + widened(sum[k][1]) * 128;
      const Words high = widened(sum[k][2]) + widened(sum[k][3]) * 128;
      double* const out = sums + i + k * kSamples;
      for (int j = 0; j < kSamples; ++j) out[j] = low[j] + 16384.0 * high[j];  // exact
    }
  }
}

// ---- Dosages ------------------------------------------------------------------------------------

// Samples of expanded dosages in a vector.
constexpr std::int64_t kPairs = kVectorBytes / (2 * sizeof(Dosage));
// Rows of dosages whose sums for all digits stay in registers. A sum waits some cycles for its last
// product, so there must be enough of them.
constexpr int kRows = kVectorBytes == 64 ? 8 : 4;
static_assert(kDosageRows % kRows == 0, "rows are whole groups");
// Vectors of a lane, and pairs of variants, whose sums stay in registers.
constexpr int kLaneVectors = 4;
constexpr int kChains = kRows / kLaneVectors;

// sums += the products of neighbours, added.
inline void add_pairs(Words& sums, const Halves& dosages, const Halves& digits) {
#if defined(__AVX512VNNI__)
  Words result = sums;  // in a register
  asm("vpdpwssd %2, %1, %0" : "+v"(result) : "v"(dosages), "v"(digits));
  sums = result;
#elif defined(__AVX2__)
  sums += (Words)_mm256_madd_epi16((__m256i)dosages, (__m256i)digits);
#elif defined(__x86_64__)
  sums += (Words)_mm_madd_epi16((__m128i)dosages, (__m128i)digits);
#else
  const auto a = (Words)dosages;
  const auto b = (Words)digits;
  sums += ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

// The sum of a vector's words, each of which may use all its bits.
inline std::int64_t wide_total(const Words& words) {
#if defined(__AVX512VNNI__)
  const auto all = (__m512i)words;
  const auto high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(all, 1));
  return _mm512_reduce_add_epi64(
      _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(all)), high));
#elif defined(__AVX2__)
  const auto all = (__m256i)words;
  const auto high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(all, 1));
  const auto four = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(all)), high);
  const auto two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
#else
  return std::int64_t{words[0]} + words[1] + words[2] + words[3];
#endif
}

template <int rows>
inline void clear(Words (&sums)[rows][kWideDigits]) {
  for (auto& of_row : sums) {
    for (auto& sum : of_row) sum = Words{};
  }
}

inline void sum_rows_over_samples(const Dosage* const* rows, const std::int16_t* digits,
                                  std::int64_t n, std::int64_t narrow,
                                  std::int64_t (*sums)[kWideDigits]) {
  const std::int64_t at_once = narrow * 2 * kPairs;
  for (std::int64_t begin = 0; begin < n; begin += at_once) {
    Words sum[kRows][kWideDigits];
    clear(sum);
    for (std::int64_t i = begin; i < std::min(n, begin + at_once); i += 2 * kPairs) {
      Halves columns[kWideDigits];
      for (int d = 0; d < kWideDigits; ++d) load(digits + d * kTileSamples + i, columns[d]);
      for (int v = 0; v < kRows; ++v) {
        Halves dosages;
        load(rows[v] + i, dosages);
        for (int d = 0; d < kWideDigits; ++d) add_pairs(sum[v][d], dosages, columns[d]);
      }
    }
    for (int v = 0; v < kRows; ++v) {
      for (int d = 0; d < kWideDigits; ++d) sums[v][d] += wide_total(sum[v][d]);
    }
  }
}

void sum_dosages_over_samples(const Dosage* const* rows, const std::int16_t* digits, std::int64_t n,
                              std::int64_t narrow, std::int64_t (*sums)[kWideDigits]) {
  for (std::int64_t first = 0; first < kDosageRows; first += kRows) {
    sum_rows_over_samples(rows + first, digits, n, narrow, sums + first);
  }
}

void expand_dosages(const Dosage* rows, std::int64_t stride, int variants, Dosage* pairs) {
  int v = 0;
  for (; v + 1 < variants; v += 2, rows += 2 * stride, pairs += 2 * kLaneSamples) {
    for (std::int64_t i = 0; i < kLaneSamples; ++i) {
      pairs[2 * i] = rows[i];
      pairs[2 * i + 1] = rows[stride + i];
    }
  }
  std::fill_n(pairs, (2 * dosage_pairs(variants) - v) * kLaneSamples, Dosage{0});
  if (v == variants) return;
  for (std::int64_t i = 0; i < kLaneSamples; ++i) pairs[2 * i] = rows[i];
}

// Adds a pair of variants to the sums of kLaneVectors vectors of samples.
inline void add_variants(const Dosage* pair, const std::int16_t* digits,
                         Words (&sums)[kLaneVectors][kWideDigits]) {
  Halves columns[kWideDigits];
  for (std::int64_t d = 0; d < kWideDigits; ++d) {
    std::int32_t two;
    std::memcpy(&two, digits + 2 * d, sizeof(two));
    columns[d] = (Halves)(two - Words{});
  }
  for (int k = 0; k < kLaneVectors; ++k) {
    Halves dosages;
    load(pair + k * kPairs * 2, dosages);
    for (int d = 0; d < kWideDigits; ++d) add_pairs(sums[k][d], dosages, columns[d]);
  }
}

// Adds pairs [0, n), at most narrow_pairs() of them, to the sums of samples.
inline void sum_some_variants(const Dosage* pairs, const std::int16_t* digits, std::int64_t n,
                              double* sums) {
  Words sum[kChains][kLaneVectors][kWideDigits];
  for (auto& of_chain : sum) clear(of_chain);
  for (std::int64_t pair = 0; pair < n; pair += kChains) {
    for (int chain = 0; chain < kChains; ++chain) {
      add_variants(pairs + (pair + chain) * kLaneSamples * 2,
                   digits + (pair + chain) * kWideDigits * 2, sum[chain]);
    }
  }

  std::int32_t digits_of_sums[kWideDigits][kLaneVectors * kPairs];
  for (int k = 0; k < kLaneVectors; ++k) {
    for (int d = 0; d < kWideDigits; ++d) {
      Words all = sum[0][k][d];
      for (int chain = 1; chain < kChains; ++chain) all += sum[chain][k][d];
      std::memcpy(&digits_of_sums[d][k * kPairs], &all, sizeof(all));
    }
  }
  for (int j = 0; j < kLaneVectors * kPairs; ++j) {
    sums[j] += digits_of_sums[0][j] + static_cast<double>(kWideBase) * digits_of_sums[1][j];
  }
}

void sum_dosages_over_variants(const Dosage* pairs, const std::int16_t* digits, std::int64_t n,
                               std::int64_t narrow, double* sums) {
  std::fill_n(sums, kLaneSamples, 0.0);
  for (std::int64_t i = 0; i < kLaneSamples; i += kLaneVectors * kPairs) {
    for (std::int64_t pair = 0; pair < n; pair += narrow) {
      sum_some_variants(pairs + (pair * kLaneSamples + i) * 2, digits + pair * kWideDigits * 2,
                        std::min(narrow, n - pair), sums + i);
    }
  }
}

constexpr BlockSums kBlockSums = {sum_over_samples,  expand_calls,
                                  sum_over_variants, sum_dosages_over_samples,
                                  expand_dosages,    sum_dosages_over_variants};

}  // namespace

}  // namespace ancify
