// Multiplies small matrices of bytes by all lanes of a warp: C += A B, where A is 16 x 32 and B 32
// x 8. Sums are exact. Only .cu files include this.
//
// Lane 4 g + k holds, by PTX for mma.m16n8k32:
//   a[0], a[1]: columns 4 k to 4 k + 3 of rows g and g + 8; a[2], a[3]: columns 16 further on
//   b[0]: rows 4 k to 4 k + 3 of column g; b[1]: rows 16 further on
//   c[0], c[1]: row g, columns 2 k and 2 k + 1; c[2], c[3]: these columns of row g + 8
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/fragments.h"

namespace ancify::cuda {

using FragmentOfA = std::uint32_t[4];
using FragmentOfB = std::uint32_t[2];

#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

__device__ inline void multiply(const FragmentOfA& a, const FragmentOfB& b, std::int32_t (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#elif defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750

// Multiplies by 8 x 16 and 16 x 8 matrices, whose lanes hold equal parts.
__device__ inline void multiply_eighth(std::uint32_t a, std::uint32_t b, std::int32_t& c0,
                                       std::int32_t& c1) {
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+r"(c0), "+r"(c1)
               : "r"(a), "r"(b));
}

__device__ inline void multiply(const FragmentOfA& a, const FragmentOfB& b, std::int32_t (&c)[4]) {
  multiply_eighth(a[0], b[0], c[0], c[1]);
  multiply_eighth(a[2], b[1], c[0], c[1]);
  multiply_eighth(a[1], b[0], c[2], c[3]);
  multiply_eighth(a[3], b[1], c[2], c[3]);
}

#else

// Older cards and the host add products of four bytes, which lanes exchange.

// Adds the products of four signed bytes to `sum`.
__device__ inline std::int32_t add_four(std::uint32_t a, std::uint32_t b, std::int32_t sum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
  return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
#else
  for (int i = 0; i < 32; i += 8) {
    sum += static_cast<std::int8_t>(a >> i & 0xff) * static_cast<std::int8_t>(b >> i & 0xff);
  }
  return sum;
#endif
}

__device__ inline void multiply(const FragmentOfA& a, const FragmentOfB& b, std::int32_t (&c)[4]) {
  multiply_by_words({{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, c, add_four);
}

#endif

}  // namespace ancify::cuda
