// Transposes tables in squares that fit the processor's vectors.
#include "core/diffusion/transpose.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ancify::diffusion {

namespace {

// Transposes all but the first `done_rows` rows of the first `done_columns` columns.
void transpose_rest(const Table& from, const Table& to, std::size_t rows, std::size_t columns,
                    std::size_t done_rows, std::size_t done_columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = column < done_columns ? done_rows : 0; row < rows; ++row) {
      to.data[column * to.stride + row] = from.data[row * from.stride + column];
    }
  }
}

#if defined(__x86_64__)

constexpr std::size_t kSide = 4;

ANCIFY_TARGET_AVX2 inline void transpose_square(const double* from, std::size_t from_stride,
                                                double* to, std::size_t to_stride) {
  const __m256d a = _mm256_loadu_pd(from);
  const __m256d b = _mm256_loadu_pd(from + from_stride);
  const __m256d c = _mm256_loadu_pd(from + 2 * from_stride);
  const __m256d d = _mm256_loadu_pd(from + 3 * from_stride);
  const __m256d ab_even = _mm256_unpacklo_pd(a, b);  // a0 b0 a2 b2
  const __m256d ab_odd = _mm256_unpackhi_pd(a, b);   // a1 b1 a3 b3
  const __m256d cd_even = _mm256_unpacklo_pd(c, d);
  const __m256d cd_odd = _mm256_unpackhi_pd(c, d);
  constexpr int lower_halves = 0x20;
  constexpr int upper_halves = 0x31;
  _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab_even, cd_even, lower_halves));
  _mm256_storeu_pd(to + to_stride, _mm256_permute2f128_pd(ab_odd, cd_odd, lower_halves));
  _mm256_storeu_pd(to + 2 * to_stride, _mm256_permute2f128_pd(ab_even, cd_even, upper_halves));
  _mm256_storeu_pd(to + 3 * to_stride, _mm256_permute2f128_pd(ab_odd, cd_odd, upper_halves));
}

ANCIFY_TARGET_AVX2 void transpose_avx2(const Table& from, const Table& to, std::size_t rows,
                                       std::size_t columns) {
  const std::size_t whole_rows = rows / kSide * kSide;
  const std::size_t whole_columns = columns / kSide * kSide;
  for (std::size_t column = 0; column < whole_columns; column += kSide) {
    for (std::size_t row = 0; row < whole_rows; row += kSide) {
      transpose_square(from.data + row * from.stride + column, from.stride,
                       to.data + column * to.stride + row, to.stride);
    }
  }
  transpose_rest(from, to, rows, columns, whole_rows, whole_columns);
}

#endif

}  // namespace

void transpose(const Table& from, const Table& to, std::size_t rows, std::size_t columns,
               SimdLevel level) {
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) return transpose_avx2(from, to, rows, columns);
#endif
  static_cast<void>(level);
  transpose_rest(from, to, rows, columns, 0, 0);
}

}  // namespace ancify::diffusion
