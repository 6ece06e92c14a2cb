// Exact sums of calls times integers, for each level of vector instructions.
#pragma once

#include <cstdint>

#include "core/device/simd.h"
#include "core/genotypes/quads.h"
#include "core/genotypes/stored_block.h"

namespace ancify {

// Samples per tile, so that a column's digits stay in the nearest cache.
constexpr std::int64_t kTileSamples = 4096;

// One byte per quad for each of kLaneSamples samples: four variants of a sample together.
constexpr std::size_t kExpandedCalls = static_cast<std::size_t>(kBlockVariants) * kLaneSamples;

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
};

// The functions for a level, or for the best lower level in the build.
const BlockSums& block_sums_of(SimdLevel level);

// The functions for AVX2 and AVX-512; null if the build lacks them.
const BlockSums* block_sums_for_avx2();
const BlockSums* block_sums_for_avx512();

}  // namespace ancify
