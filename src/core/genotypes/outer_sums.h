// Sums of outer products of variants, for dense kernels.
#pragma once

#include <array>
#include <cstdint>

#include "core/device/simd.h"
#include "core/genotypes/quads.h"

namespace ancify {

// Columns of a kernel that are made together.
constexpr std::int64_t kOuterColumns = 32;
// Quads whose tables stay in the nearest cache.
constexpr int kOuterQuads = 4;
constexpr int kOuterVariants = kOuterQuads * kQuad;

// A pair of variants has 16 pairs of calls. For each there is what a sample with these calls adds
// to its row of the kernel.
struct PairTables {
  alignas(64) double rows[kOuterVariants / 2][16][kOuterColumns];
};

// `of_call`: z of each call, by variant. `columns`: for each variant, what its z is multiplied by
// in each column.
void fill_tables(const std::array<std::array<double, 4>, kOuterVariants>& of_call,
                 const double* columns, SimdLevel simd, PairTables& tables);

// out[i * kOuterColumns + c] += the sum over the tables' variants, for samples i in [first, end).
// `quads`: kOuterQuads rows, `stride` bytes apart.
void add_tables(const PairTables& tables, const std::uint8_t* quads, std::int64_t stride,
                std::int64_t first, std::int64_t end, SimdLevel simd, double* out);

}  // namespace ancify
