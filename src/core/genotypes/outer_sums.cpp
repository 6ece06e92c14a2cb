// K_ic = sum_j f_j z_ij z_cj. Two variants j, k have 16 pairs of calls, so there are 16 vectors
// f_j z_ij z_c + f_k z_ik z_c over columns c. A sample adds that of its calls: one addition in
// place of two products (the method of four Russians; Arlazarov and others 1970, Soviet Math. Dokl.
// 11:1209).
#include "core/genotypes/outer_sums.h"

#if defined(__GNUC__) && !defined(__clang__)
// All levels round products before they are added, and have the same bytes.
#pragma GCC optimize("O3", "fp-contract=off")
#endif

namespace ancify {

namespace {

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kVectors = kOuterColumns / kLanes;
// Eight numbers at any address.
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(8)));

ANCIFY_ALWAYS_INLINE Lanes& lanes(double* p) { return *reinterpret_cast<Lanes*>(p); }
ANCIFY_ALWAYS_INLINE const Lanes& lanes(const double* p) {
  return *reinterpret_cast<const Lanes*>(p);
}

ANCIFY_ALWAYS_INLINE void fill(const std::array<std::array<double, 4>, kOuterVariants>& of_call,
                               const double* columns, PairTables& tables) {
  for (std::size_t pair = 0; pair < kOuterVariants / 2; ++pair) {
    const double* const left = columns + pair * 2 * kOuterColumns;
    const double* const right = left + kOuterColumns;
    for (std::int64_t v = 0; v < kOuterColumns; v += kLanes) {
      for (std::size_t call = 0; call < 4; ++call) {
        const Lanes of_right = lanes(right + v) * of_call[2 * pair + 1][call];
        for (std::size_t other = 0; other < 4; ++other) {
          const Lanes of_left = lanes(left + v) * of_call[2 * pair][other];
          lanes(&tables.rows[pair][4 * call + other][v]) = of_left + of_right;
        }
      }
    }
  }
}

ANCIFY_ALWAYS_INLINE void add(const PairTables& tables, const std::uint8_t* quads,
                              std::int64_t stride, std::int64_t first, std::int64_t end,
                              double* out) {
  for (std::int64_t i = first; i < end; ++i) {
    double* const row = out + i * kOuterColumns;
    Lanes sums[kVectors];
    for (std::int64_t v = 0; v < kVectors; ++v) sums[v] = lanes(row + v * kLanes);
    for (std::int64_t quad = 0; quad < kOuterQuads; ++quad) {
      const unsigned calls = quads[quad * stride + i];
      const double* const low = tables.rows[2 * quad][calls & 15U];
      const double* const high = tables.rows[2 * quad + 1][calls >> 4];
      for (std::int64_t v = 0; v < kVectors; ++v) sums[v] += lanes(low + v * kLanes);
      for (std::int64_t v = 0; v < kVectors; ++v) sums[v] += lanes(high + v * kLanes);
    }
    for (std::int64_t v = 0; v < kVectors; ++v) lanes(row + v * kLanes) = sums[v];
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void fill_avx512(
    const std::array<std::array<double, 4>, kOuterVariants>& of_call, const double* columns,
    PairTables& tables) {
  fill(of_call, columns, tables);
}

ANCIFY_TARGET_AVX2 void fill_avx2(const std::array<std::array<double, 4>, kOuterVariants>& of_call,
                                  const double* columns, PairTables& tables) {
  fill(of_call, columns, tables);
}

ANCIFY_TARGET_AVX512 void add_avx512(const PairTables& tables, const std::uint8_t* quads,
                                     std::int64_t stride, std::int64_t first, std::int64_t end,
                                     double* out) {
  add(tables, quads, stride, first, end, out);
}

ANCIFY_TARGET_AVX2 void add_avx2(const PairTables& tables, const std::uint8_t* quads,
                                 std::int64_t stride, std::int64_t first, std::int64_t end,
                                 double* out) {
  add(tables, quads, stride, first, end, out);
}

#endif

}  // namespace

void fill_tables(const std::array<std::array<double, 4>, kOuterVariants>& of_call,
                 const double* columns, [[maybe_unused]] SimdLevel simd, PairTables& tables) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return fill_avx512(of_call, columns, tables);
  if (simd == SimdLevel::kAvx2) return fill_avx2(of_call, columns, tables);
#endif
  fill(of_call, columns, tables);
}

void add_tables(const PairTables& tables, const std::uint8_t* quads, std::int64_t stride,
                std::int64_t first, std::int64_t end, [[maybe_unused]] SimdLevel simd,
                double* out) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return add_avx512(tables, quads, stride, first, end, out);
  if (simd == SimdLevel::kAvx2) return add_avx2(tables, quads, stride, first, end, out);
#endif
  add(tables, quads, stride, first, end, out);
}

}  // namespace ancify
