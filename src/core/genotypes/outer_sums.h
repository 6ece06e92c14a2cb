// Sums of outer products of variants, for dense kernels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/genotypes/quads.h"

namespace ancify {

// Columns of a kernel that are made together.
constexpr std::int64_t kOuterColumns = 16;
// Quads whose tables are used together.
constexpr int kOuterQuads = 8;

// A quad's row, with its different bytes numbered.
struct NumberedQuad {
  std::vector<std::uint8_t> bytes;    // by number
  std::vector<std::uint8_t> numbers;  // of each sample's byte
};

NumberedQuad number_quad(const std::uint8_t* row, std::int64_t n);

// For each number of a quad: what a sample that has it adds to its row of the kernel.
struct QuadTable {
  alignas(64) double rows[256][kOuterColumns];
};
using QuadTables = std::array<QuadTable, kOuterQuads>;

// z of each call, and for each column what z is multiplied by.
struct OuterVariant {
  std::array<double, 4> of_call;
  std::array<double, kOuterColumns> columns;
};

void fill_table(const NumberedQuad& quad, const std::array<OuterVariant, kQuad>& variants,
                SimdLevel simd, QuadTable& table);

// out[i * kOuterColumns + c] += what the tables of these quads have, for samples i in [first, end).
void add_tables(const NumberedQuad* quads, const QuadTables& tables, std::int64_t first,
                std::int64_t end, SimdLevel simd, double* out);

}  // namespace ancify
