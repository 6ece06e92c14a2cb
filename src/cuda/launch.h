// What only nvcc compiles, by names of our own: so the same kernels run on the host too, where the
// tests have something that stands in for CUDA (tests/cpp/gpu/on_host).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Declares the memory that a block's threads share, of as many bytes as the launch says.
#ifdef __CUDACC__
#define ANCIFY_SHARED_MEMORY(type, name) extern __shared__ type name[]
#else
#define ANCIFY_SHARED_MEMORY(type, name) \
  type* const name = static_cast<type*>(::ancify::on_host::shared_memory())
#endif

namespace ancify::cuda {

struct Blocks {
  unsigned n;
  unsigned threads;          // of each
  std::size_t shared_bytes;  // of each
};

// Begins a kernel; cudaGetLastError() then says whether it could.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Blocks& blocks, cudaStream_t stream,
            const Arguments&... arguments) {
#ifdef __CUDACC__
  kernel<<<blocks.n, blocks.threads, blocks.shared_bytes, stream>>>(arguments...);
#else
  // By value, as CUDA takes them: they may be gone when the kernel runs.
  on_host::launch(
      [kernel, values = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, values); },
      blocks.n, blocks.threads, blocks.shared_bytes, stream);
#endif
}

}  // namespace ancify::cuda
