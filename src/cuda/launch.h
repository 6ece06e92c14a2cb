// Wraps the syntax that only nvcc compiles. Tests thus run the same kernels on the host, with a
// stand-in for CUDA (tests/cpp/gpu/on_host).
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

// Declares a block's shared memory, whose size the launch sets.
#ifdef __CUDACC__
#define ANCIFY_SHARED_MEMORY(type, name) extern __shared__ type name[]
#else
#define ANCIFY_SHARED_MEMORY(type, name) \
  type* const name = static_cast<type*>(::ancify::on_host::shared_memory())
#endif

// Marks a function in which threads of a block diverge. The host does not inline it, so that
// compilers do not copy surrounding barriers into its branches.
#ifdef __CUDACC__
#define ANCIFY_APART __forceinline__
#else
#define ANCIFY_APART [[gnu::noinline]]
#endif

namespace ancify::cuda {

// A size in one, two or three dimensions.
struct Extent {
  constexpr Extent(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr std::size_t size() const { return std::size_t{x} * y * z; }
  unsigned x, y, z;
};

// The number of threads of a launch, which may be too large for an Extent.
struct Count {
  constexpr Count(std::size_t x, std::size_t y = 1, std::size_t z = 1) : x(x), y(y), z(z) {}
  std::size_t x, y, z;
};

struct Blocks {
  Extent n;
  Extent threads;            // per block
  std::size_t shared_bytes;  // per block
};

// The number of blocks for n threads, at most `most`. With too few, threads take several turns; the
// last dimension loses blocks last.
inline Extent blocks_for(const Count& n, const Extent& threads, std::size_t most) {
  constexpr std::size_t most_in_y_or_z = 65535;
  const auto needed = [](std::size_t n, unsigned each, std::size_t most) {
    return std::min((n + each - 1) / each, most);
  };
  const std::size_t z = needed(n.z, threads.z, std::min(most, most_in_y_or_z));
  const std::size_t left = most / std::max<std::size_t>(z, 1);
  const std::size_t y = needed(n.y, threads.y, std::min(left, most_in_y_or_z));
  const std::size_t x = needed(n.x, threads.x, left / std::max<std::size_t>(y, 1));
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
}

// Starts a kernel; cudaGetLastError() then reports failure.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Blocks& blocks, cudaStream_t stream,
            const Arguments&... arguments) {
#ifdef __CUDACC__
  const auto dimensions = [](const Extent& extent) { return dim3(extent.x, extent.y, extent.z); };
  kernel<<<dimensions(blocks.n), dimensions(blocks.threads), blocks.shared_bytes, stream>>>(
      arguments...);
#else
  // Copies the arguments, as CUDA does: the originals may be gone when the kernel runs.
  on_host::launch(
      [kernel, values = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, values); },
      {blocks.n.x, blocks.n.y, blocks.n.z}, {blocks.threads.x, blocks.threads.y, blocks.threads.z},
      blocks.shared_bytes, stream);
#endif
}

}  // namespace ancify::cuda
