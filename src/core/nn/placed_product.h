// c += a b for rows at arbitrary offsets. A block of c is summed in registers while rows of b
// stream past, so nothing is copied. Like layer_code.h, it is compiled for each level.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/device/simd.h"
#include "core/nn/products.h"

namespace ancify {

namespace {

// The rows and column vectors of a block: as many as fit the registers, besides a row of b and a
// value of a.
#if defined(__AVX512F__)
constexpr std::int64_t kVectorLanes = 16;
constexpr std::int64_t kBlockVectors = 3;
constexpr std::int64_t kBlockRows = 8;
#elif defined(__AVX2__)
constexpr std::int64_t kVectorLanes = 8;
constexpr std::int64_t kBlockVectors = 2;
constexpr std::int64_t kBlockRows = 6;
#else
constexpr std::int64_t kVectorLanes = 4;
constexpr std::int64_t kBlockVectors = 2;
constexpr std::int64_t kBlockRows = 4;
#endif
static_assert(kWholeColumns % kVectorLanes == 0);
using Lanes = float __attribute__((vector_size(kVectorLanes * sizeof(float))));

ANCIFY_ALWAYS_INLINE void load(const float* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }

// Terms [first_term, end_term) of the elements from (row, column) on.
struct ProductBlock {
  std::int64_t row;
  std::int64_t column;
  std::int64_t first_term;
  std::int64_t end_term;
};

template <std::int64_t rows, std::int64_t vectors>
void add_block(const PlacedProduct& p, const ProductBlock& block) {
  const float* a[rows];
  for (std::int64_t i = 0; i < rows; ++i) a[i] = p.a + p.a_rows[block.row + i];
  const float* const b = p.b + block.column;
  Lanes sums[rows][vectors] = {};
  for (std::int64_t k = block.first_term; k < block.end_term; ++k) {
    Lanes row[vectors];
    for (std::int64_t j = 0; j < vectors; ++j) load(b + p.b_rows[k] + j * kVectorLanes, row[j]);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < vectors; ++j) sums[i][j] += a[i][k] * row[j];
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const c = p.c + (block.row + i) * p.c_stride + block.column;
    for (std::int64_t j = 0; j < vectors; ++j) {
      Lanes sum;
      load(c + j * kVectorLanes, sum);
      sum += sums[i][j];
      std::memcpy(c + j * kVectorLanes, &sum, sizeof sum);
    }
  }
}

// The block with this many rows.
template <std::int64_t rows, std::int64_t vectors>
ANCIFY_ALWAYS_INLINE void add_rows(std::int64_t wanted, const PlacedProduct& p,
                                   const ProductBlock& block) {
  if constexpr (rows > 1) {
    if (wanted < rows) return add_rows<rows - 1, vectors>(wanted, p, block);
  }
  add_block<rows, vectors>(p, block);
}

// As above, for vectors of columns.
template <std::int64_t vectors>
ANCIFY_ALWAYS_INLINE void add_columns(std::int64_t wanted, std::int64_t rows,
                                      const PlacedProduct& p, const ProductBlock& block) {
  if constexpr (vectors > 1) {
    if (wanted < vectors) return add_columns<vectors - 1>(wanted, rows, p, block);
  }
  add_rows<kBlockRows, vectors>(rows, p, block);
}

void add_product(const PlacedProduct& p) {
  constexpr std::int64_t kTerms = 256;  // rows of b stay in a processor's cache
  // With nearly equal heights, each block keeps many sums in flight.
  const std::int64_t blocks = (p.rows + kBlockRows - 1) / kBlockRows;
  for (std::int64_t first = 0; first < p.depth; first += kTerms) {
    const std::int64_t end = p.depth - first < kTerms ? p.depth : first + kTerms;
    for (std::int64_t column = 0; column < p.columns; column += kBlockVectors * kVectorLanes) {
      for (std::int64_t i = 0; i < blocks; ++i) {
        const std::int64_t row = i * p.rows / blocks;
        add_columns<kBlockVectors>((p.columns - column) / kVectorLanes,
                                   (i + 1) * p.rows / blocks - row, p, {row, column, first, end});
      }
    }
  }
}

}  // namespace

}  // namespace ancify
