// Each element of W t is one sum over the block's rows, in order, so all levels of vector
// instructions give identical bytes. A step computes several rows of W t at once.
#include "core/reml/linear_algebra/block_products.h"

#include <cstring>

namespace ancify::reml {

namespace {

// Vectors as long as a register of each level. Longer ones would be kept in memory.
using Lanes512 = double __attribute__((vector_size(64)));
using Lanes256 = double __attribute__((vector_size(32)));
using Lanes128 = double __attribute__((vector_size(16)));

// Rows [first, first + rows).
template <class Lanes, std::int64_t rows>
ANCIFY_ALWAYS_INLINE void some_rows(const double* w, std::int64_t size, std::int64_t first,
                                    const double* t, double* out) {
  constexpr std::int64_t kWidth = sizeof(Lanes) / sizeof(double);
  const double* const of_rows = w + first * size;
  for (std::int64_t column = 0; column < Panels::kColumns; column += kWidth) {
    Lanes sums[rows] = {};
    for (std::int64_t k = 0; k < size; ++k) {
      Lanes row;
      std::memcpy(&row, t + k * Panels::kColumns + column, sizeof(row));
      for (std::int64_t r = 0; r < rows; ++r) sums[r] += of_rows[r * size + k] * row;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      std::memcpy(out + (first + r) * Panels::kColumns + column, &sums[r], sizeof(Lanes));
    }
  }
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE void all_rows(const double* w, std::int64_t size, std::int64_t first,
                                   std::int64_t end, const double* t, double* out) {
  constexpr std::int64_t kAtOnce = 8;
  for (; first + kAtOnce <= end; first += kAtOnce) {
    some_rows<Lanes, kAtOnce>(w, size, first, t, out);
  }
  for (; first < end; ++first) some_rows<Lanes, 1>(w, size, first, t, out);
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void times_avx512(const double* w, std::int64_t size, std::int64_t first,
                                       std::int64_t end, const double* t, double* out) {
  all_rows<Lanes512>(w, size, first, end, t, out);
}

ANCIFY_TARGET_AVX2 void times_avx2(const double* w, std::int64_t size, std::int64_t first,
                                   std::int64_t end, const double* t, double* out) {
  all_rows<Lanes256>(w, size, first, end, t, out);
}

#endif

}  // namespace

void block_times(const double* w, std::int64_t size, std::int64_t first, std::int64_t end,
                 const double* t, [[maybe_unused]] SimdLevel simd, double* out) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return times_avx512(w, size, first, end, t, out);
  if (simd == SimdLevel::kAvx2) return times_avx2(w, size, first, end, t, out);
#endif
  all_rows<Lanes128>(w, size, first, end, t, out);
}

}  // namespace ancify::reml
