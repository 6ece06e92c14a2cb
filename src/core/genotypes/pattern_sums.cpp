// At a group of variants, samples with equal calls are interchangeable. With the samples' patterns
// as an n x p matrix B of zeros and ones, variants are z_j = B a_j, and so
//   sum_j f_j z_j z_j' = B M B',  M = sum_j f_j a_j a_j',
//   z_j'P z_j = a_j'M a_j,  M = B'P B.
// Both need one addition per pair of samples for all variants of a group, and products per pair of
// patterns. (With every possible pattern of a few variants, this is the method of four Russians;
// Arlazarov and others 1970, Soviet Math. Dokl. 11:1209.)
#include "core/genotypes/pattern_sums.h"

#include <cstddef>

#include "core/device/lanes.h"

namespace ancify {

namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kVectors = kStripeColumns / kLanes;
constexpr std::size_t kFour = 4;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));
using Four = double __attribute__((vector_size(kFour * sizeof(double))));

ANCIFY_ALWAYS_INLINE void transpose(Four (&rows)[kFour]) {
  const Four a = {rows[0][0], rows[1][0], rows[0][2], rows[1][2]};
  const Four b = {rows[0][1], rows[1][1], rows[0][3], rows[1][3]};
  const Four c = {rows[2][0], rows[3][0], rows[2][2], rows[3][2]};
  const Four d = {rows[2][1], rows[3][1], rows[2][3], rows[3][3]};
  rows[0] = Four{a[0], a[1], c[0], c[1]};
  rows[1] = Four{b[0], b[1], d[0], d[1]};
  rows[2] = Four{a[2], a[3], c[2], c[3]};
  rows[3] = Four{b[2], b[3], d[2], d[3]};
}

// table.rows[q][c] = the value of the patterns numbers[c] and q.
ANCIFY_ALWAYS_INLINE void fill(const PatternPairs& group, std::int64_t first, PatternTable& table) {
  const std::size_t stride = pattern_stride(group.patterns->count);
  const std::uint8_t* const numbers = group.patterns->numbers.data() + first;
  for (std::size_t c = 0; c < kStripeColumns; c += kFour) {
    for (std::size_t q = 0; q < stride; q += kFour) {
      Four rows[kFour];
      for (std::size_t k = 0; k < kFour; ++k) {
        load(&group.numbers[numbers[c + k] * stride + q], rows[k]);
      }
      transpose(rows);
      for (std::size_t k = 0; k < kFour; ++k) store(rows[k], &table.rows[q + k][c]);
    }
  }
}

// The reverse: adds the table to the values.
ANCIFY_ALWAYS_INLINE void add(const PatternTable& table, std::int64_t first, PatternPairs& group) {
  const std::size_t stride = pattern_stride(group.patterns->count);
  const std::uint8_t* const numbers = group.patterns->numbers.data() + first;
  for (std::size_t c = 0; c < kStripeColumns; c += kFour) {
    for (std::size_t q = 0; q < stride; q += kFour) {
      Four rows[kFour];
      // Unrolled by hand: GCC 12 would keep the loop, and with it the vectors in memory.
      load(&table.rows[q][c], rows[0]);
      load(&table.rows[q + 1][c], rows[1]);
      load(&table.rows[q + 2][c], rows[2]);
      load(&table.rows[q + 3][c], rows[3]);
      transpose(rows);
      for (std::size_t k = 0; k < kFour; ++k) {
        double* const sums = &group.numbers[numbers[c + k] * stride + q];
        Four sum;
        load(sums, sum);
        sum += rows[k];
        store(sum, sums);
      }
    }
  }
}

template <std::size_t groups>
ANCIFY_ALWAYS_INLINE void add_rows(const PatternPairs* of, const PatternTable* tables,
                                   std::int64_t first, std::int64_t n, double* stripe) {
  std::array<const std::uint8_t*, groups> numbers;
  for (std::size_t g = 0; g < groups; ++g) numbers[g] = of[g].patterns->numbers.data();
  for (std::int64_t i = first; i < n; ++i) {
    double* const row = stripe + i * kStripeColumns;
    Lanes sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) load(row + v * kLanes, sums[v]);
    for (std::size_t g = 0; g < groups; ++g) {
      const double* const of_pattern = tables[g].rows[numbers[g][i]];
      for (std::size_t v = 0; v < kVectors; ++v) {
        Lanes more;
        load(of_pattern + v * kLanes, more);
        sums[v] += more;
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(sums[v], row + v * kLanes);
  }
}

template <std::size_t groups>
ANCIFY_ALWAYS_INLINE void sum_rows(const double* stripe, std::int64_t first, std::int64_t n,
                                   const PatternPairs* of, PatternTable* tables) {
  std::array<const std::uint8_t*, groups> numbers;
  for (std::size_t g = 0; g < groups; ++g) numbers[g] = of[g].patterns->numbers.data();
  for (std::int64_t i = first; i < n; ++i) {
    const double* const row = stripe + i * kStripeColumns;
    Lanes more[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) load(row + v * kLanes, more[v]);
    for (std::size_t g = 0; g < groups; ++g) {
      double* const of_pattern = tables[g].rows[numbers[g][i]];
      for (std::size_t v = 0; v < kVectors; ++v) {
        Lanes sums;
        load(of_pattern + v * kLanes, sums);
        sums += more[v];
        store(sums, of_pattern + v * kLanes);
      }
    }
  }
}

ANCIFY_ALWAYS_INLINE void add_all(const PatternPairs* groups, std::size_t count, std::int64_t first,
                                  std::int64_t n, PatternTables& tables, double* stripe) {
  for (std::size_t g = 0; g < count; ++g) fill(groups[g], first, tables[g]);
  if (count == kGroupsAtOnce)
    return add_rows<kGroupsAtOnce>(groups, tables.data(), first, n, stripe);
  for (std::size_t g = 0; g < count; ++g) add_rows<1>(groups + g, &tables[g], first, n, stripe);
}

ANCIFY_ALWAYS_INLINE void sum_all(const double* stripe, std::int64_t first, std::int64_t n,
                                  PatternTables& tables, PatternPairs* groups, std::size_t count) {
  for (std::size_t g = 0; g < count; ++g) {
    const std::size_t rows = pattern_stride(groups[g].patterns->count);
    std::memset(tables[g].rows, 0, rows * sizeof(tables[g].rows[0]));
  }
  if (count == kGroupsAtOnce) {
    sum_rows<kGroupsAtOnce>(stripe, first, n, groups, tables.data());
  } else {
    for (std::size_t g = 0; g < count; ++g) sum_rows<1>(stripe, first, n, groups + g, &tables[g]);
  }
  for (std::size_t g = 0; g < count; ++g) add(tables[g], first, groups[g]);
}

ANCIFY_ALWAYS_INLINE void add_products(const double* values, double factor, PatternPairs& group) {
  const std::size_t stride = pattern_stride(group.patterns->count);
  double* row = group.numbers.data();
  for (int p = 0; p < group.patterns->count; ++p, row += stride) {
    const double times = factor * values[p];
    for (std::size_t q = 0; q < stride; q += kLanes) {
      Lanes sums;
      Lanes more;
      load(row + q, sums);
      load(values + q, more);
      sums += times * more;
      store(sums, row + q);
    }
  }
}

template <class OwnLanes>
ANCIFY_ALWAYS_INLINE double sum_products(const PatternPairs& group, const double* values) {
  using Block = LaneBlock<OwnLanes, kLanes>;
  const std::size_t stride = pattern_stride(group.patterns->count);
  const double* row = group.numbers.data();
  double form = 0;
  for (int p = 0; p < group.patterns->count; ++p, row += stride) {
    Block sums = {};
    for (std::size_t q = 0; q < stride; q += kLanes) {
      Block numbers;
      Block more;
      numbers.load_from(row + q);
      more.load_from(values + q);
      for (std::size_t r = 0; r < Block::kRegisters; ++r) {
        sums.lanes[r] += numbers.lanes[r] * more.lanes[r];
      }
    }
    std::array<double, kLanes> terms;
    sums.store_to(terms.data());
    double sum = 0;
    for (const double term : terms) sum += term;
    form += values[p] * sum;
  }
  return form;
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void add_all_avx512(const PatternPairs* groups, std::size_t count,
                                         std::int64_t first, std::int64_t n, PatternTables& tables,
                                         double* stripe) {
  add_all(groups, count, first, n, tables, stripe);
}

ANCIFY_TARGET_AVX2 void add_all_avx2(const PatternPairs* groups, std::size_t count,
                                     std::int64_t first, std::int64_t n, PatternTables& tables,
                                     double* stripe) {
  add_all(groups, count, first, n, tables, stripe);
}

ANCIFY_TARGET_AVX512 void sum_all_avx512(const double* stripe, std::int64_t first, std::int64_t n,
                                         PatternTables& tables, PatternPairs* groups,
                                         std::size_t count) {
  sum_all(stripe, first, n, tables, groups, count);
}

ANCIFY_TARGET_AVX2 void sum_all_avx2(const double* stripe, std::int64_t first, std::int64_t n,
                                     PatternTables& tables, PatternPairs* groups,
                                     std::size_t count) {
  sum_all(stripe, first, n, tables, groups, count);
}

ANCIFY_TARGET_AVX512 void add_products_avx512(const double* values, double factor,
                                              PatternPairs& group) {
  add_products(values, factor, group);
}

ANCIFY_TARGET_AVX2 void add_products_avx2(const double* values, double factor,
                                          PatternPairs& group) {
  add_products(values, factor, group);
}

ANCIFY_TARGET_AVX512 double sum_products_avx512(const PatternPairs& group, const double* values) {
  return sum_products<Avx512Lanes>(group, values);
}

ANCIFY_TARGET_AVX2 double sum_products_avx2(const PatternPairs& group, const double* values) {
  return sum_products<Avx2Lanes>(group, values);
}

#endif

}  // namespace

void add_pairs(const PatternPairs* groups, std::size_t count, std::int64_t first, std::int64_t n,
               [[maybe_unused]] SimdLevel simd, PatternTables& tables, double* stripe) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) {
    return add_all_avx512(groups, count, first, n, tables, stripe);
  }
  if (simd == SimdLevel::kAvx2) return add_all_avx2(groups, count, first, n, tables, stripe);
#endif
  add_all(groups, count, first, n, tables, stripe);
}

void sum_pairs(const double* stripe, std::int64_t first, std::int64_t n,
               [[maybe_unused]] SimdLevel simd, PatternTables& tables, PatternPairs* groups,
               std::size_t count) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) {
    return sum_all_avx512(stripe, first, n, tables, groups, count);
  }
  if (simd == SimdLevel::kAvx2) return sum_all_avx2(stripe, first, n, tables, groups, count);
#endif
  sum_all(stripe, first, n, tables, groups, count);
}

void add_outer(const double* values, double factor, [[maybe_unused]] SimdLevel simd,
               PatternPairs& group) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return add_products_avx512(values, factor, group);
  if (simd == SimdLevel::kAvx2) return add_products_avx2(values, factor, group);
#endif
  add_products(values, factor, group);
}

double form(const PatternPairs& group, const double* values, [[maybe_unused]] SimdLevel simd) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return sum_products_avx512(group, values);
  if (simd == SimdLevel::kAvx2) return sum_products_avx2(group, values);
#endif
  return sum_products<PlainLanes>(group, values);
}

}  // namespace ancify
