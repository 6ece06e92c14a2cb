// CUDA kernels of encoders: a block a row of a norm, or a block of queries. cuBLAS multiplies.
//
// Dao T, Fu DY, Ermon S, Rudra A, Re C (2022) FlashAttention: fast and memory-efficient exact
// attention with IO-awareness. NeurIPS 35.
#include "cuda/cublas.h"
#include "cuda/encoder_kernels.h"
#include "cuda/operation_kernel.h"

namespace ancify::cuda {

namespace {

// The threads of a block, which share a row. All take the same way: a branch would let compilers
// copy barriers into its arms.
struct BlockRow {
  float* sums;  // two of each thread, in shared memory

  template <class Work>
  __device__ void for_each(std::size_t n, const Work& work) const {
    for (std::size_t j = threadIdx.x; j < n; j += kRowThreads) work(j);
  }
  // Sums of two, of four, and so on, in the order of LoneRow. Each thread has the whole at last.
  template <class Term>
  __device__ float sum(std::size_t n, const Term& term) const {
    float own = 0;
    for (std::size_t j = threadIdx.x; j < n; j += kRowThreads) own += term(j);
    __syncthreads();  // all threads have read the sums before
    float* now = sums;
    float* next = sums + kRowThreads;
    for (std::size_t step = kRowThreads / 2; step > 0; step /= 2) {
      now[threadIdx.x] = own;
      __syncthreads();
      own += now[threadIdx.x ^ step];
      float* const last = now;
      now = next;
      next = last;
    }
    return own;
  }
};

template <class Number>
__global__ void norm_kernel(AddNormOp<Number> op) {
  ANCIFY_SHARED_MEMORY(float, sums);
  for (std::size_t i = blockIdx.x; i < op.n(); i += gridDim.x) op.do_row(BlockRow{sums}, i);
}

// Keys that a block holds in shared memory at once, with their values: 32 kB at most.
template <int kWide>
constexpr int kKeysHeld = 4096 / (kWide < 64 ? 64 : kWide);

// A thread a query. Threads of a block copy keys and values together, so that each is rotated once
// a block.
template <class Number, int kWide>
__global__ void attention_kernel(AttentionOp<Number> op) {
  using Op = AttentionOp<Number>;
  constexpr int keys_held = kKeysHeld<kWide>;
  ANCIFY_SHARED_MEMORY(float, keys);
  float* const values = keys + keys_held * kWide;
  for (std::size_t i = blockIdx.x; i < op.n(); i += gridDim.x) {
    const QueryBlock of = op.block(i);
    const int head = op.head(i);
    const std::int32_t query = of.first + static_cast<std::int32_t>(threadIdx.x);
    const int has_query = query < of.end ? 1 : 0;
    OnlineSoftmax<kWide> seen;
    op.begin(seen, of, has_query == 1 ? query : of.first, head);
    for (std::int32_t first = of.sequence_first; first < of.sequence_end; first += keys_held) {
      const std::int32_t left = of.sequence_end - first;
      const int n = left < keys_held ? left : keys_held;
      __syncthreads();  // all threads have seen the keys before
      for (int e = static_cast<int>(threadIdx.x); e < n * kWide; e += kBlockQueries) {
        const std::int32_t token = first + e / kWide;
        const std::int32_t position = token - of.sequence_first;
        keys[e] = op.component(Op::kKey, token, position, head, e % kWide);
        values[e] = op.component(Op::kValue, token, position, head, e % kWide);
      }
      __syncthreads();
      for (int k = 0; k < n * has_query; ++k) {
        seen.see(keys + k * kWide, values + k * kWide, op.scale(),
                 op.bias_of(query, first + k, head));
      }
    }
    if (has_query == 1) op.end(seen, query, head);
  }
}

class CudaEncoderKernels : public EncoderKernels {
 public:
  CudaEncoderKernels(int number, int card) : device_(number, card), cublas_(device_) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(),
                         cudaFuncGetAttributes(&attributes, operation_kernel<EmbedOp>));
  }
  Device& device() override { return device_; }
  void begin(const EncoderOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  static constexpr unsigned kThreads = 256;  // per block

  template <class Op>
  void launch(const Op& op, int stream) {
    launch_operation(device_, op, stream, kThreads);
  }
  template <class Number>
  void launch(const AddNormOp<Number>& op, int stream) {
    constexpr auto threads = static_cast<unsigned>(kRowThreads);
    device_.launch(
        {"norm_kernel", op.n() * kRowThreads, stream, 2 * kRowThreads * sizeof(float), threads},
        norm_kernel<Number>, op);
  }
  template <class Number>
  void launch(const AttentionOp<Number>& op, int stream) {
    if (op.wide <= 16) return attend<16>(op, stream);
    if (op.wide <= 32) return attend<32>(op, stream);
    if (op.wide <= 64) return attend<64>(op, stream);
    attend<kWidestHead>(op, stream);
  }
  template <int kWide, class Number>
  void attend(const AttentionOp<Number>& op, int stream) {
    constexpr std::size_t bytes = 2 * kKeysHeld<kWide> * kWide * sizeof(float);
    device_.launch({"attention_kernel", op.n() * kBlockQueries, stream, bytes, kBlockQueries},
                   attention_kernel<Number, kWide>, op);
  }
  template <class Number>
  void launch(const ProductOp<Number>& op, int stream) {
    cublas_.multiply({op.rows, op.columns, op.depth}, op.a, op.b, op.c, stream);
  }

  CudaDevice device_;
  Cublas cublas_;
};

}  // namespace

std::unique_ptr<EncoderKernels> open_encoder_kernels(int number, int card) {
  return std::make_unique<CudaEncoderKernels>(number, card);
}

}  // namespace ancify::cuda
