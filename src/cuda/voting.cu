#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/check.h"
#include "cuda/voting.h"

namespace ancify::cuda {

namespace {

// Device memory, freed at the end of its scope.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t n) { ANCIFY_CUDA_CHECK(cudaMalloc(&data_, n)); }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

// Species s's position i is bases[s * n + i].
__global__ void vote_kernel(Voting voting, const char* bases, std::size_t n, char* calls) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    calls[i] = ancify::call_by_vote(
        voting, [&](int s) { return base_code(bases[static_cast<std::size_t>(s) * n + i]); });
  }
}

}  // namespace

void call_by_vote(int device, const Voting& voting, const char* const* species, std::size_t n,
                  char* calls) {
  if (n == 0) return;
  ANCIFY_CUDA_CHECK(cudaSetDevice(device));
  const auto n_species = static_cast<std::size_t>(voting.species());
  DeviceBuffer bases(n_species * n);
  DeviceBuffer result(n);
  for (std::size_t s = 0; s < n_species; ++s) {
    ANCIFY_CUDA_CHECK(cudaMemcpy(bases.data() + s * n, species[s], n, cudaMemcpyHostToDevice));
  }
  constexpr std::size_t threads = 256;
  constexpr std::size_t most_blocks = 1 << 16;
  const auto blocks = static_cast<unsigned>(std::min((n + threads - 1) / threads, most_blocks));
  vote_kernel<<<blocks, threads>>>(voting, bases.data(), n, result.data());
  ANCIFY_CUDA_CHECK(cudaGetLastError());
  ANCIFY_CUDA_CHECK(cudaMemcpy(calls, result.data(), n, cudaMemcpyDeviceToHost));
}

}  // namespace ancify::cuda
