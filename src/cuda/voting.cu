#include "cuda/buffer.h"
#include "cuda/voting.h"

namespace ancify::cuda {

namespace {

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
  upload_species(species, n_species, n, bases);
  vote_kernel<<<blocks_for(n), kThreads>>>(voting, bases.data(), n, result.data());
  ANCIFY_CUDA_CHECK(cudaGetLastError());
  result.download(calls, n);
}

}  // namespace ancify::cuda
