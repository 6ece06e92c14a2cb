// Exact sums of calls or dosages times integers, for each level of vector instructions.
#pragma once

#include <cstdint>

#include "core/device/simd.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/fixed_point.h"
#include "core/genotypes/quads.h"
#include "core/genotypes/stored_block.h"

namespace ancify {

// Samples per tile, so that a column's digits stay in the nearest cache.
constexpr std::int64_t kTileSamples = 4096;

// One byte per quad for each of kLaneSamples samples: four variants of a sample together.
constexpr std::size_t kExpandedCalls = static_cast<std::size_t>(kBlockVariants) * kLaneSamples;

// Rows of dosages that are summed together, and the samples of them that fit the nearest cache.
constexpr std::int64_t kDosageRows = 8;
constexpr std::int64_t kDosageSamples = 2048;
static_assert(kTileSamples % kDosageSamples == 0, "digits are in tiles");

// Two dosages per pair of variants for each of kLaneSamples samples.
constexpr std::size_t kExpandedDosages = kExpandedCalls;

// Pairs of variants, an even number; variants beyond the last have dosages of 0.
constexpr std::int64_t dosage_pairs(std::int64_t variants) { return (variants + 3) / 4 * 2; }

// The most products of two dosages with two digits whose sum fits 32 bits, an even number.
constexpr std::int64_t narrow_pairs(std::int64_t largest_unit) {
  return INT32_MAX / (2 * largest_unit * kMostWideDigit) / 2 * 2;
}

// The functions of one source, compiled for each level. Missing calls count as 3.
struct BlockSums {
  // sums[v] += sum over samples i of call(v, i) * number(i), for the four variants of a quad. `n`
  // samples: a multiple of 64, at most kTileSamples. `digits`: kNumberDigits rows of kTileSamples
  // digits. Meanwhile, prefetches the same samples of the row `next` bytes ahead.
  void (*over_samples)(const std::uint8_t* row, std::int64_t next, const std::int8_t* digits,
                       std::int64_t n, std::int64_t* sums);
  // calls = samples [0, kLaneSamples) of `quads` rows that are `stride` bytes apart.
  void (*expand_calls)(const std::uint8_t* rows, std::int64_t stride, int quads,
                       std::uint8_t* calls);
  // sums[i] = sum over variants v of call(i, v) * number(v), for kLaneSamples samples of expanded
  // calls. `digits`: for each quad kNumberDigits times kQuad digits. The sums are integers below
  // 2^53.
  void (*over_variants)(const std::uint8_t* calls, const std::int8_t* digits, int quads,
                        double* sums);
  // sums[v][d] += sum over samples i of dosage(v, i) * digit d of i, for kDosageRows rows. `n`
  // and `digits` as above, with kWideDigits rows. `narrow`: narrow_pairs() of the dosages.
  void (*dosages_over_samples)(const Dosage* const* rows, const std::int16_t* digits,
                               std::int64_t n, std::int64_t narrow,
                               std::int64_t (*sums)[kWideDigits]);
  // pairs = samples [0, kLaneSamples) of `variants` rows that are `stride` dosages apart.
  void (*expand_dosages)(const Dosage* rows, std::int64_t stride, int variants, Dosage* pairs);
  // sums[i] = sum over variants v of dosage(i, v) * number(v), for kLaneSamples samples of expanded
  // dosages. `digits`: for each of `n` pairs, kWideDigits times two digits.
  void (*dosages_over_variants)(const Dosage* pairs, const std::int16_t* digits, std::int64_t n,
                                std::int64_t narrow, double* sums);
};

// The functions for a level, or for the best lower level in the build.
const BlockSums& block_sums_of(SimdLevel level);

// The functions for AVX2 and AVX-512; null if the build lacks them.
const BlockSums* block_sums_for_avx2();
const BlockSums* block_sums_for_avx512();

}  // namespace ancify
