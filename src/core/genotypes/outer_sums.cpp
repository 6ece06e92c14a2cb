// Products are rounded before they are added: a fused operation would give other bytes than the
// levels without it.
#include "core/genotypes/outer_sums.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

namespace ancify {

namespace {

void add_scalar(const double* z, std::int64_t stride, const double* right, int variants,
                double* out, std::int64_t out_stride) {
  std::array<std::array<double, kOuterRows>, kOuterColumns> sums{};
  for (int j = 0; j < variants; ++j) {
    for (std::size_t c = 0; c < kOuterColumns; ++c) {
      for (std::size_t i = 0; i < kOuterRows; ++i) {
        const double product = z[j * stride + static_cast<std::int64_t>(i)] *
                               right[static_cast<std::size_t>(j) * kOuterColumns + c];
        sums[c][i] += product;
      }
    }
  }
  for (std::size_t c = 0; c < kOuterColumns; ++c) {
    for (std::size_t i = 0; i < kOuterRows; ++i) {
      out[static_cast<std::int64_t>(c) * out_stride + static_cast<std::int64_t>(i)] += sums[c][i];
    }
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void add_avx512(const double* z, std::int64_t stride, const double* right,
                                     int variants, double* out, std::int64_t out_stride) {
  constexpr std::int64_t width = 8;
  constexpr std::int64_t vectors = kOuterRows / width;
  __m512d sums[kOuterColumns][vectors];
  for (auto& column : sums) {
    for (auto& sum : column) sum = _mm512_setzero_pd();
  }
  for (int j = 0; j < variants; ++j, z += stride, right += kOuterColumns) {
    __m512d rows[vectors];
    for (std::int64_t i = 0; i < vectors; ++i) rows[i] = _mm512_loadu_pd(z + i * width);
    for (std::int64_t c = 0; c < kOuterColumns; ++c) {
      const __m512d factor = _mm512_set1_pd(right[c]);
      for (std::int64_t i = 0; i < vectors; ++i) {
        sums[c][i] = _mm512_add_pd(sums[c][i], _mm512_mul_pd(rows[i], factor));
      }
    }
  }
  for (std::int64_t c = 0; c < kOuterColumns; ++c) {
    for (std::int64_t i = 0; i < vectors; ++i) {
      double* const at = out + c * out_stride + i * width;
      _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), sums[c][i]));
    }
  }
}

// Half of the rows at a time: AVX2 has half as many registers.
ANCIFY_TARGET_AVX2 void add_avx2(const double* z, std::int64_t stride, const double* right,
                                 int variants, double* out, std::int64_t out_stride) {
  constexpr std::int64_t width = 4;
  constexpr std::int64_t vectors = 3;
  for (std::int64_t first = 0; first < kOuterRows; first += vectors * width) {
    __m256d sums[kOuterColumns][vectors];
    for (auto& column : sums) {
      for (auto& sum : column) sum = _mm256_setzero_pd();
    }
    for (int j = 0; j < variants; ++j) {
      __m256d rows[vectors];
      for (std::int64_t i = 0; i < vectors; ++i) {
        rows[i] = _mm256_loadu_pd(z + j * stride + first + i * width);
      }
      for (std::int64_t c = 0; c < kOuterColumns; ++c) {
        const __m256d factor = _mm256_set1_pd(right[j * kOuterColumns + c]);
        for (std::int64_t i = 0; i < vectors; ++i) {
          sums[c][i] = _mm256_add_pd(sums[c][i], _mm256_mul_pd(rows[i], factor));
        }
      }
    }
    for (std::int64_t c = 0; c < kOuterColumns; ++c) {
      for (std::int64_t i = 0; i < vectors; ++i) {
        double* const at = out + c * out_stride + first + i * width;
        _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), sums[c][i]));
      }
    }
  }
}

#endif

}  // namespace

void add_outer_products(const double* z, std::int64_t stride, const double* right, int variants,
                        std::int64_t first, std::int64_t end, [[maybe_unused]] SimdLevel simd,
                        double* out, std::int64_t out_stride) {
  for (std::int64_t i = first; i < end; i += kOuterRows) {
#if defined(__x86_64__)
    if (simd == SimdLevel::kAvx512) {
      add_avx512(z + i, stride, right, variants, out + i, out_stride);
      continue;
    }
    if (simd == SimdLevel::kAvx2) {
      add_avx2(z + i, stride, right, variants, out + i, out_stride);
      continue;
    }
#endif
    add_scalar(z + i, stride, right, variants, out + i, out_stride);
  }
}

}  // namespace ancify
