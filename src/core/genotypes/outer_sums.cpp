// K_ic = sum_j f_j z_ij z_cj. The calls of four variants are a byte. Without missing calls there
// are at most 81 of them, so there are as many vectors sum_j f_j z_ij z_c over columns c. A sample
// adds that of its byte: one addition in place of four products (the method of four Russians;
// Arlazarov and others 1970, Soviet Math. Dokl. 11:1209).
#include "core/genotypes/outer_sums.h"

#include <cstddef>
#include <cstring>

// All levels round products before they are added, and have the same bytes.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

namespace ancify {

namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kVectors = kOuterColumns / kLanes;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

// Numbers are at any address. Vectors are not returned, as each level would do it in another way.
ANCIFY_ALWAYS_INLINE void load(const double* from, Lanes& to) {
  std::memcpy(&to, from, sizeof(to));
}
ANCIFY_ALWAYS_INLINE void store(const Lanes& from, double* to) {
  std::memcpy(to, &from, sizeof(from));
}

// Sums of both variants' products, for each of their 16 pairs of calls.
ANCIFY_ALWAYS_INLINE void fill_pair(const OuterVariant& left, const OuterVariant& right,
                                    std::size_t column, Lanes* sums) {
  Lanes of_left;
  Lanes of_right;
  load(&left.columns[column], of_left);
  load(&right.columns[column], of_right);
  for (std::size_t call = 0; call < 4; ++call) {
    for (std::size_t other = 0; other < 4; ++other) {
      sums[4 * call + other] = of_left * left.of_call[other] + of_right * right.of_call[call];
    }
  }
}

ANCIFY_ALWAYS_INLINE void fill(const NumberedQuad& quad,
                               const std::array<OuterVariant, kQuad>& variants, QuadTable& table) {
  for (std::size_t column = 0; column < kOuterColumns; column += kLanes) {
    Lanes low[16];
    Lanes high[16];
    fill_pair(variants[0], variants[1], column, low);
    fill_pair(variants[2], variants[3], column, high);
    for (std::size_t number = 0; number < quad.bytes.size(); ++number) {
      const unsigned calls = quad.bytes[number];
      store(low[calls & 15U] + high[calls >> 4], &table.rows[number][column]);
    }
  }
}

ANCIFY_ALWAYS_INLINE void add(const NumberedQuad* quads, const QuadTables& tables,
                              std::int64_t first, std::int64_t end, double* out) {
  std::array<const std::uint8_t*, kOuterQuads> numbers;
  for (std::size_t quad = 0; quad < kOuterQuads; ++quad) numbers[quad] = quads[quad].numbers.data();
  for (std::int64_t i = first; i < end; ++i) {
    double* const row = out + i * kOuterColumns;
    Lanes sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) load(row + v * kLanes, sums[v]);
    for (std::size_t quad = 0; quad < kOuterQuads; ++quad) {
      const double* const of_byte = tables[quad].rows[numbers[quad][i]];
      for (std::size_t v = 0; v < kVectors; ++v) {
        Lanes more;
        load(of_byte + v * kLanes, more);
        sums[v] += more;
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(sums[v], row + v * kLanes);
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void fill_avx512(const NumberedQuad& quad,
                                      const std::array<OuterVariant, kQuad>& variants,
                                      QuadTable& table) {
  fill(quad, variants, table);
}

ANCIFY_TARGET_AVX2 void fill_avx2(const NumberedQuad& quad,
                                  const std::array<OuterVariant, kQuad>& variants,
                                  QuadTable& table) {
  fill(quad, variants, table);
}

ANCIFY_TARGET_AVX512 void add_avx512(const NumberedQuad* quads, const QuadTables& tables,
                                     std::int64_t first, std::int64_t end, double* out) {
  add(quads, tables, first, end, out);
}

ANCIFY_TARGET_AVX2 void add_avx2(const NumberedQuad* quads, const QuadTables& tables,
                                 std::int64_t first, std::int64_t end, double* out) {
  add(quads, tables, first, end, out);
}

#endif

}  // namespace

NumberedQuad number_quad(const std::uint8_t* row, std::int64_t n) {
  std::array<bool, 256> is_there{};
  for (std::int64_t i = 0; i < n; ++i) is_there[row[i]] = true;
  NumberedQuad quad;
  std::array<std::uint8_t, 256> number_of{};
  for (std::size_t byte = 0; byte < is_there.size(); ++byte) {
    if (!is_there[byte]) continue;
    number_of[byte] = static_cast<std::uint8_t>(quad.bytes.size());
    quad.bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  quad.numbers.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    quad.numbers[static_cast<std::size_t>(i)] = number_of[row[i]];
  }
  return quad;
}

void fill_table(const NumberedQuad& quad, const std::array<OuterVariant, kQuad>& variants,
                [[maybe_unused]] SimdLevel simd, QuadTable& table) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return fill_avx512(quad, variants, table);
  if (simd == SimdLevel::kAvx2) return fill_avx2(quad, variants, table);
#endif
  fill(quad, variants, table);
}

void add_tables(const NumberedQuad* quads, const QuadTables& tables, std::int64_t first,
                std::int64_t end, [[maybe_unused]] SimdLevel simd, double* out) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return add_avx512(quads, tables, first, end, out);
  if (simd == SimdLevel::kAvx2) return add_avx2(quads, tables, first, end, out);
#endif
  add(quads, tables, first, end, out);
}

}  // namespace ancify
