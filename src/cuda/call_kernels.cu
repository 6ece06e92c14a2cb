#include "core/ancestry/tile_calling.h"
#include "cuda/call_kernels.h"
#include "cuda/cuda_device.h"

namespace ancify::cuda {

namespace {

// What every card has of memory that a block's threads share; six species' table fits.
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

template <bool kShared>
__global__ void table_kernel(CallTile tile, const std::uint16_t* table, std::size_t patterns) {
  extern __shared__ std::uint16_t shared[];
  if (kShared) {
    for (std::size_t i = threadIdx.x; i < patterns; i += blockDim.x) shared[i] = table[i];
    __syncthreads();
    table = shared;
  }
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t lane = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; lane < tile.lanes();
       lane += step) {
    ancify::call_by_table(tile, table, lane);
  }
}

__global__ void vote_kernel(CallTile tile, Voting voting) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < tile.n; i += step) {
    ancify::call_by_vote(tile, voting, i);
  }
}

class CudaCallKernels : public CallKernels {
 public:
  CudaCallKernels(int number, int card) : number_(number), card_(card), device_(number, card) {}
  Device& device() override { return device_; }
  std::unique_ptr<Device> another_device() override {
    return std::make_unique<CudaDevice>(number_, card_);
  }

  void call_by_table(const CallTile& tile, const std::uint16_t* table, std::size_t patterns,
                     int stream) override {
    const std::size_t bytes = patterns * sizeof *table;
    device_.launch(tile.lanes(), stream, [&](unsigned blocks, unsigned threads, cudaStream_t in) {
      if (bytes <= kSharedBytes) {
        table_kernel<true><<<blocks, threads, bytes, in>>>(tile, table, patterns);
      } else {
        table_kernel<false><<<blocks, threads, 0, in>>>(tile, table, patterns);
      }
    });
  }

  void call_by_vote(const CallTile& tile, const Voting& voting, int stream) override {
    device_.launch(tile.n, stream, [&](unsigned blocks, unsigned threads, cudaStream_t in) {
      vote_kernel<<<blocks, threads, 0, in>>>(tile, voting);
    });
  }

 private:
  int number_;
  int card_;
  CudaDevice device_;
};

}  // namespace

std::unique_ptr<CallKernels> open_call_kernels(int number, int card) {
  return std::make_unique<CudaCallKernels>(number, card);
}

}  // namespace ancify::cuda
