// Multiplies small matrices of half precision by all lanes of a warp: C += A B, where A is 16 x 16
// and B 16 x 8. Sums are in single precision. Only .cu files include this.
//
// Lane 4 g + k holds, by PTX for mma.m16n8k16, two elements in a word:
//   a[0], a[1]: columns 2 k and 2 k + 1 of rows g and g + 8; a[2], a[3]: columns 8 further on
//   b[0]: rows 2 k and 2 k + 1 of column g; b[1]: rows 8 further on
//   c[0], c[1]: row g, columns 2 k and 2 k + 1; c[2], c[3]: these columns of row g + 8
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/nn/half.h"
#include "cuda/fragments.h"
#include "cuda/warp.h"

namespace ancify::cuda {

// A word of two halves.
__device__ inline std::uint32_t pair_of(float low, float high) {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return to_half(low).bits | std::uint32_t{to_half(high).bits} << 16;
#endif
}

// Loads four 8 x 8 matrices of halves from shared memory. Lane 8 i + r gives the address of row r
// of matrix i. Lane 4 g + k gets elements 2 k and 2 k + 1 of row g of each matrix or, transposed,
// of column g.
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750

__device__ inline void load_matrices(const std::uint32_t* row, std::uint32_t (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}
__device__ inline void load_transposed(const std::uint32_t* row, std::uint32_t (&words)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

#else

__device__ inline void load_matrices(const std::uint32_t* row, std::uint32_t (&words)[4]) {
  const OfLanes<const std::uint32_t*> rows(row);
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = 0; i < 4; ++i) words[i] = rows(8 * i + lane / 4)[lane % 4];
}
__device__ inline void load_transposed(const std::uint32_t* row, std::uint32_t (&words)[4]) {
  const OfLanes<const std::uint32_t*> rows(row);
  const unsigned lane = threadIdx.x % 32;
  const unsigned column = lane / 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned first = 8 * i + 2 * (lane % 4);
    const std::uint32_t low = rows(first)[column / 2] >> column % 2 * 16 & 0xffff;
    const std::uint32_t high = rows(first + 1)[column / 2] >> column % 2 * 16;
    words[i] = low | high << 16;
  }
}

#endif

#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

__device__ inline void multiply(const Fragments& own, float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(own.a[0]), "r"(own.a[1]), "r"(own.a[2]), "r"(own.a[3]), "r"(own.b[0]), "r"(own.b[1]));
}

#elif defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750

// Multiplies by 16 x 8 and 8 x 8 matrices, whose lanes hold equal parts.
__device__ inline void multiply_half(std::uint32_t a0, std::uint32_t a1, std::uint32_t b,
                                     float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(b));
}

__device__ inline void multiply(const Fragments& own, float (&c)[4]) {
  multiply_half(own.a[0], own.a[1], own.b[0], c);
  multiply_half(own.a[2], own.a[3], own.b[1], c);
}

#else

// Older cards and the host add products of two halves, which lanes exchange.

// Adds the products of two halves to `sum`.
__device__ inline float add_two(std::uint32_t a, std::uint32_t b, float sum) {
  const auto half = [](std::uint32_t bits) {
    return to_float(Half{static_cast<std::uint16_t>(bits & 0xffff)});
  };
  return sum + half(a) * half(b) + half(a >> 16) * half(b >> 16);
}

__device__ inline void multiply(const Fragments& own, float (&c)[4]) {
  multiply_by_words(own, c, add_two);
}

#endif

}  // namespace ancify::cuda
