// CUDA kernels of encoders: one block per row of a norm, or per block of queries. cuBLAS
// multiplies.
#include "cuda/cublas.h"
#include "cuda/encoder_kernels.h"
#include "cuda/half_attention.h"
#include "cuda/operation_kernel.h"
#include "cuda/warp.h"

namespace ancify::cuda {

namespace {

// A thread of a block that shares a row. It holds kShare values in groups of kNumbers adjacent
// ones. Threads never diverge: compilers would copy barriers into the arms of a branch.
template <int kNumbers, std::size_t kShare>
class BlockRow {
 public:
  static constexpr int kEach = kNumbers;

  // `sums`: two per thread, in shared memory.
  __device__ explicit BlockRow(float* sums) : now_(sums), next_(sums + kRowThreads) {}

  template <class Work>
  __device__ void for_each(std::size_t n, const Work& work) {
    ANCIFY_UNROLL
    for (std::size_t i = 0; i < kShare; i += kEach) {
      const std::size_t j = i * kRowThreads + threadIdx.x * kEach;
      if (j < n) work(j, held_ + i);
    }
  }
  // Each thread ends with the whole sum.
  template <class Term>
  __device__ float sum(std::size_t n, const Term& term) {
    float own = 0;
    for_each(n, [&](std::size_t, const float* held) {
      ANCIFY_UNROLL
      for (int k = 0; k < kEach; ++k) own += term(held[k]);
    });
    now_[threadIdx.x] = sum_of_warp(own);
    __syncthreads();
    float all = 0;
    for (std::size_t lane = 0; lane < kRowThreads; lane += 32) all += now_[lane];
    // The next sums are written elsewhere, while other threads still read these.
    float* const last = now_;
    now_ = next_;
    next_ = last;
    return all;
  }

 private:
  float* now_;
  float* next_;
  float held_[kShare];
};

template <int kEach, std::size_t kShare, class Number>
__global__ void __launch_bounds__(kRowThreads) norm_kernel(NormOp<Number> op) {
  ANCIFY_SHARED_MEMORY(float, sums);
  BlockRow<kEach, kShare> row(sums);
  for (std::size_t i = blockIdx.x; i < op.n(); i += gridDim.x) op.do_row(row, i);
}

// One group of values per thread; the second index is the row.
template <int kEach, class Number>
__global__ void activation_kernel(ActivateOp<Number> op) {
  for (std::size_t row = blockIdx.y; row < op.rows; row += gridDim.y) {
    std::size_t j = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * kEach;
    for (; j < op.width; j += std::size_t{gridDim.x} * blockDim.x * kEach) {
      op.template activate<kEach>(row, j);
    }
  }
}

// One group of pairs per thread; the second index is the token.
template <int kEach, class Number>
__global__ void rotation_kernel(RotateOp<Number> op) {
  const auto threads = static_cast<int>(gridDim.x * blockDim.x);
  std::size_t token = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  for (; token < op.size; token += std::size_t{gridDim.y} * blockDim.y) {
    auto pair = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kEach;
    for (; pair < op.pairs(); pair += threads * kEach) op.template rotate<kEach>(token, pair);
  }
}

// Keys, with their values, that a block holds in shared memory at once: 32 kB at most.
template <int kWide>
constexpr int kKeysHeld = 4096 / (kWide < 64 ? 64 : kWide);

// Attention in single precision: one query per thread. All threads of a block copy keys and values.
template <int kWide>
__global__ void attention_kernel(AttentionOp<float> op) {
  using Op = AttentionOp<float>;
  constexpr int keys_held = kKeysHeld<kWide>;
  ANCIFY_SHARED_MEMORY(float, keys);
  float* const values = keys + keys_held * kWide;
  for (std::size_t i = blockIdx.x; i < op.n(); i += gridDim.x) {
    const QueryBlock of = op.block(i);
    const int head = op.head(i);
    const std::int32_t query = of.first + static_cast<std::int32_t>(threadIdx.x);
    const int has_query = query < of.end ? 1 : 0;
    OnlineSoftmax<kWide> seen;
    op.begin(seen, has_query == 1 ? query : of.first, head);
    for (std::int32_t first = of.sequence_first; first < of.sequence_end; first += keys_held) {
      const std::int32_t left = of.sequence_end - first;
      const int n = left < keys_held ? left : keys_held;
      __syncthreads();  // all threads have seen the keys before
      for (int e = static_cast<int>(threadIdx.x); e < n * kWide; e += kBlockQueries) {
        const std::int32_t token = first + e / kWide;
        keys[e] = op.component(Op::kKey, token, head, e % kWide);
        values[e] = op.component(Op::kValue, token, head, e % kWide);
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

// Attention in half precision: 16 queries per warp.
template <int kWide, bool kAnyWidth>
__global__ void __launch_bounds__(kTileThreads, kWide <= 64 ? 4 : 3)
    half_attention_kernel(AttentionOp<Half> op) {
  using Op = AttentionOp<Half>;
  using Tiles = HalfTiles<kWide>;
  using Words = Several<std::uint32_t, 4>;  // aligned to 16 bytes
  ANCIFY_SHARED_MEMORY(Words, words);
  std::uint32_t* const tiles = words[0].at;
  std::uint32_t* const other = tiles + 2 * Tiles::kTileWords;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const float scale = op.scale() * 1.44269504F;
  for (std::size_t i = blockIdx.x; i < op.n(); i += gridDim.x) {
    const QueryBlock of = op.block(i);
    const int head = op.head(i);
    const float slope = op.slopes == nullptr ? 0 : op.slopes[head] / op.scale();
    const int queries = of.end - of.first - warp_row;  // of this warp and later ones
    const auto copy_tile = [&](std::int32_t first, std::uint32_t* to) {
      const std::int32_t left = of.sequence_end - first;
      const int n = left < Tiles::kKeys ? left : Tiles::kKeys;
      copy_rows<kWide, Tiles::kKeys, kAnyWidth>(op, Op::kKey, head, first, n, to);
      copy_rows<kWide, Tiles::kKeys, kAnyWidth>(op, Op::kValue, head, first, n,
                                                to + Tiles::kTileWords);
      return n;
    };
    QueriesOfWarp<kWide> seen;
    __syncthreads();  // all threads have seen the keys before
    copy_rows<kWide, kBlockQueries, kAnyWidth>(op, Op::kQuery, head, of.first, of.end - of.first,
                                               other);
    int n = copy_tile(of.sequence_first, tiles);
    finish_copies();
    __syncthreads();
    seen.begin(other + warp_row * Tiles::kRowWords);
    std::uint32_t* now = tiles;
    std::uint32_t* next = other;
    KeysSeen keys = {0, of.sequence_first, of.first + warp_row + seen.group(), scale, slope};
    for (; keys.first < of.sequence_end; keys.first += Tiles::kKeys) {
      finish_copies();
      __syncthreads();  // and all threads have seen the queries, or previous keys
      keys.n = n;
      n = copy_tile(keys.first + Tiles::kKeys, next);
      seen.see(now, now + Tiles::kTileWords, keys, queries);
      std::uint32_t* const last = now;
      now = next;
      next = last;
    }
    seen.end(op, keys.query, head, queries);
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
  void launch(const NormOp<Number>& op, int stream) {
    constexpr std::size_t usual = 12;  // fewer registers let more blocks run at once
    if (op.width % 4 != 0) return normalise<1, kRowShare>(op, stream);
    if (op.width > usual * kRowThreads) return normalise<4, kRowShare>(op, stream);
    normalise<4, usual>(op, stream);
  }
  template <int kEach, std::size_t kShare, class Number>
  void normalise(const NormOp<Number>& op, int stream) {
    constexpr auto threads = static_cast<unsigned>(kRowThreads);
    device_.launch(
        {"norm_kernel", op.n() * kRowThreads, stream, 2 * kRowThreads * sizeof(float), threads},
        norm_kernel<kEach, kShare, Number>, op);
  }
  template <class Number>
  void launch(const ActivateOp<Number>& op, int stream) {
    constexpr int each = 16 / sizeof(Number);
    if (op.width % each == 0) return activate<each>(op, stream);
    activate<1>(op, stream);
  }
  template <int kEach, class Number>
  void activate(const ActivateOp<Number>& op, int stream) {
    constexpr unsigned threads = 128;
    device_.launch({"activation_kernel", {op.width / kEach, op.rows}, stream, 0, threads},
                   activation_kernel<kEach, Number>, op);
  }
  template <class Number>
  void launch(const RotateOp<Number>& op, int stream) {
    if (op.wide % 16 == 0) return rotate<8>(op, stream);
    if (op.wide % 8 == 0) return rotate<4>(op, stream);
    rotate<1>(op, stream);
  }
  template <int kEach, class Number>
  void rotate(const RotateOp<Number>& op, int stream) {
    const auto groups = static_cast<std::size_t>(op.pairs() / kEach);
    device_.launch({"rotation_kernel", {groups, op.size}, stream, 0, {32, 4}},
                   rotation_kernel<kEach, Number>, op);
  }
  template <class Number>
  void launch(const AttentionOp<Number>& op, int stream) {
    if (op.wide <= 16) return attend<16>(op, stream);
    if (op.wide <= 32) return attend<32>(op, stream);
    if (op.wide <= 64) return attend<64>(op, stream);
    attend<kWidestHead>(op, stream);
  }
  template <int kWide>
  void attend(const AttentionOp<float>& op, int stream) {
    constexpr std::size_t bytes = 2 * kKeysHeld<kWide> * kWide * sizeof(float);
    device_.launch({"attention_kernel", op.n() * kBlockQueries, stream, bytes, kBlockQueries},
                   attention_kernel<kWide>, op);
  }
  template <int kWide>
  void attend(const AttentionOp<Half>& op, int stream) {
    if (op.wide % 8 == 0) return attend_in_half<kWide, false>(op, stream);
    attend_in_half<kWidestHead, true>(op, stream);
  }
  template <int kWide, bool kAnyWidth>
  void attend_in_half(const AttentionOp<Half>& op, int stream) {
    constexpr std::size_t bytes = HalfTiles<kWide>::kWords * sizeof(std::uint32_t);
    device_.launch({"half_attention_kernel", op.n() * kTileThreads, stream, bytes, kTileThreads},
                   half_attention_kernel<kWide, kAnyWidth>, op);
  }
  template <class Number, class Sum>
  void launch(const ProductOp<Number, Sum>& op, int stream) {
    cublas_.multiply(op, stream);
  }

  CudaDevice device_;
  Cublas cublas_;
};

}  // namespace

std::unique_ptr<EncoderKernels> open_encoder_kernels(int number, int card) {
  return std::make_unique<CudaEncoderKernels>(number, card);
}

}  // namespace ancify::cuda
