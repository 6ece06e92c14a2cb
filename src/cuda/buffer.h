// Memory of a device.
#pragma once

#include <cstddef>

#include "cuda/check.h"

namespace ancify::cuda {

// Freed at the end of its scope.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t n) { ANCIFY_CUDA_CHECK(cudaMalloc(&data_, n)); }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  char* data() const { return static_cast<char*>(data_); }

  void upload(const char* from, std::size_t n, std::size_t at = 0) {
    ANCIFY_CUDA_CHECK(cudaMemcpy(data() + at, from, n, cudaMemcpyHostToDevice));
  }
  void download(void* to, std::size_t n) const {
    ANCIFY_CUDA_CHECK(cudaMemcpy(to, data_, n, cudaMemcpyDeviceToHost));
  }

 private:
  void* data_ = nullptr;
};

// Blocks and threads for a loop over n positions in steps of the whole grid.
constexpr unsigned kThreads = 256;
inline unsigned blocks_for(std::size_t n) {
  constexpr std::size_t most = 1 << 16;
  const std::size_t wanted = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

// The sequences of some species, one behind the other, on the device.
inline void upload_species(const char* const* species, std::size_t n_species, std::size_t n,
                           DeviceBuffer& bases) {
  for (std::size_t s = 0; s < n_species; ++s) bases.upload(species[s], n, s * n);
}

}  // namespace ancify::cuda
