// A kernel for any operation: the threads of a launch share its parts. Only .cu files include this.
#pragma once

#include <cstddef>

#include "cuda/cuda_device.h"

namespace ancify::cuda {

template <class Op>
__global__ void operation_kernel(Op op) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < op.n(); i += step) {
    op(i);
  }
}

template <class Op>
void launch_operation(CudaDevice& device, const Op& op, int stream, unsigned threads_of_a_block) {
  device.launch({Op::kName, op.n(), stream, 0, threads_of_a_block}, operation_kernel<Op>, op);
}

}  // namespace ancify::cuda
