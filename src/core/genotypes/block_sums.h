// Exact whole-number sums of calls times numbers, for each level of vector instructions.
#pragma once

#include <array>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genotypes/quads.h"
#include "core/genotypes/stored_block.h"

namespace ancify {

// Samples whose digits of a column stay in the nearest cache.
constexpr std::int64_t kTileSamples = 4096;

// sums[v] += sum over samples i of call(v, i) * number(i), of a quad and `n` samples, a multiple of
// 64 and at most kTileSamples. Missing calls count 3. `digits`: kNumberDigits rows of kTileSamples
// digits. Meanwhile the same samples of the row `next` bytes on are fetched from memory.
void sum_over_samples(const std::uint8_t* row, std::int64_t next, const std::int8_t* digits,
                      std::int64_t n, SimdLevel simd, std::array<std::int64_t, kQuad>& sums);

// The calls of kLaneSamples samples of a block: a byte each, four variants of a sample together.
using ExpandedCalls =
    std::array<std::uint8_t, static_cast<std::size_t>(kBlockVariants) * kLaneSamples>;

// Expands samples [0, kLaneSamples) of `quads` rows that are `stride` bytes apart.
void expand_calls(const std::uint8_t* rows, std::int64_t stride, int quads, SimdLevel simd,
                  ExpandedCalls& calls);

// sums[i] = sum over variants v of call(i, v) * number(v). Missing calls count 3. `digits`: for
// each quad kNumberDigits times kQuad digits. The sums are whole numbers below 2^53.
void sum_over_variants(const ExpandedCalls& calls, const std::int8_t* digits, int quads,
                       SimdLevel simd, std::array<double, kLaneSamples>& sums);

}  // namespace ancify
