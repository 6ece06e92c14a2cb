// Copies from a card's memory to a block's shared memory, while its threads do other work. Cards
// before compute capability 8.0, and the host, copy at once. Only .cu files include this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

#include "core/device/several.h"
#include "core/nn/half.h"

namespace ancify::cuda {

// Begins to copy 8 halves, or zeros if they do not exist. Both places are multiples of 16 bytes.
__device__ inline void copy_later(std::uint32_t* to, const Half* from, bool exist) {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const int bytes = exist ? 16 : 0;  // the rest of 16 is zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(bytes)
               : "memory");
#else
  Several<Half, 8> halves = {};
  if (exist) halves = several_at<8>(from);
  Several<std::uint32_t, 4> words;
  std::memcpy(&words, &halves, sizeof words);
  several_at<4>(to) = words;
#endif
}

// Waits for the copies that this thread began.
__device__ inline void finish_copies() {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

}  // namespace ancify::cuda
