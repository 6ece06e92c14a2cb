// CUDA kernels of calling, and their launches.
#include "core/ancestry/calling/tile_calling.h"
#include "core/ancestry/calling/tile_trees.h"
#include "cuda/call_kernels.h"
#include "cuda/operation_kernel.h"

namespace ancify::cuda {

namespace {

// The shared memory per block that every card has. The table of six species fits.
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;

// Calls by a table, which each block copies to its shared memory.
__global__ void table_kernel(CallByTable op) {
  ANCIFY_SHARED_MEMORY(std::uint16_t, shared);
  for (std::size_t i = threadIdx.x; i < op.patterns; i += blockDim.x) shared[i] = op.table[i];
  __syncthreads();
  op.table = shared;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t lane = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; lane < op.n();
       lane += step) {
    op(lane);
  }
}

// Calls by boosted trees. A block's shared memory holds the trees, if they fit (kShared), and the
// column values of each thread's position. It also holds the consensus at the block's positions and
// at all positions in reach.
template <bool kShared>
__global__ void tree_kernel(TileAround around, WalkedTrees trees) {
  ANCIFY_SHARED_MEMORY(double, staged);
  auto* values = reinterpret_cast<float*>(staged);
  if (kShared) {
    const auto* const from = reinterpret_cast<const float*>(trees.memory);
    const std::size_t words = trees.bytes() / sizeof *from;
    for (std::size_t i = threadIdx.x; i < words; i += blockDim.x) values[i] = from[i];
    trees.memory = reinterpret_cast<const char*>(staged);
    values += words;
  }
  auto* const consensus = reinterpret_cast<std::uint32_t*>(values + trees.n_columns * blockDim.x);
  const std::size_t n = around.tile.n;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t start = std::size_t{blockIdx.x} * blockDim.x; start < n; start += step) {
    const std::size_t here = n - start < blockDim.x ? n - start : blockDim.x;
    __syncthreads();  // all threads have read the previous consensus
    for (std::size_t k = threadIdx.x; k < here + 2 * kFeatureReach; k += blockDim.x) {
      consensus[k] =
          consensus_at(around, around.start + static_cast<std::int64_t>(start + k) - kFeatureReach);
    }
    __syncthreads();
    if (threadIdx.x < here) {
      ancify::call_by_trees(around, trees, start + threadIdx.x,
                            consensus + kFeatureReach + threadIdx.x, values + threadIdx.x,
                            blockDim.x);
    }
  }
}

// The bytes of shared memory that a block needs besides the trees.
std::size_t tree_bytes(unsigned threads, std::size_t columns) {
  return threads * columns * sizeof(float) +
         (threads + 2 * static_cast<std::size_t>(kFeatureReach)) * sizeof(std::uint32_t);
}

class CudaCallKernels : public CallKernels {
 public:
  CudaCallKernels(int number, int card) : device_(number, card) {
    // Loads all kernels at once. Code that the driver cannot load thus fails before any work, and
    // free_memory() excludes the memory of the code.
    load(table_kernel);
    load(operation_kernel<CallByTable>);
    load(operation_kernel<CallByVote>);
    load(tree_kernel<true>);
    load(tree_kernel<false>);
  }
  Device& device() override { return device_; }
  void begin(const CallOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  static constexpr unsigned kThreads = 256;  // per block

  void launch(const CallByTable& op, int stream) {
    const std::size_t bytes = op.patterns * sizeof *op.table;
    if (bytes > kSharedBytes) {
      launch_operation(device_, op, stream, kThreads);
    } else {
      device_.launch({"table_kernel", op.n(), stream, bytes, kThreads}, table_kernel, op);
    }
  }
  void launch(const CallByVote& op, int stream) { launch_operation(device_, op, stream, kThreads); }
  void launch(const CallByTrees& op, int stream) {
    unsigned threads = kThreads;
    while (tree_bytes(threads, op.trees.n_columns) > kSharedBytes) threads /= 2;
    std::size_t bytes = tree_bytes(threads, op.trees.n_columns);
    const bool shared = bytes + op.trees.bytes() <= kSharedBytes;
    if (shared) bytes += op.trees.bytes();
    device_.launch({"tree_kernel", op.n(), stream, bytes, threads},
                   shared ? tree_kernel<true> : tree_kernel<false>, op.around, op.trees);
  }

  template <class... Parameters>
  void load(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(), cudaFuncGetAttributes(&attributes, kernel));
  }

  CudaDevice device_;
};

}  // namespace

std::unique_ptr<CallKernels> open_call_kernels(int number, int card) {
  return std::make_unique<CudaCallKernels>(number, card);
}

}  // namespace ancify::cuda
