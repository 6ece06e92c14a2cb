// CUDA kernels that train networks. A thread of a convolution computes windows of 2 x 2 pixels for
// several channels, so that each read serves many products. cuBLAS multiplies matrices.
#include <algorithm>

#include "cuda/cublas.h"
#include "cuda/cuda_device.h"
#include "cuda/network_kernels.h"

namespace ancify::cuda {

namespace {

// Compilers hoist expressions of the row alone out of the inner loop.
template <class Op>
__global__ void grid_kernel(Op op) {
  const auto rows = static_cast<std::int32_t>(op.rows);
  const auto columns = static_cast<std::int32_t>(op.columns);
  const auto first = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto step = static_cast<std::int32_t>(gridDim.x * blockDim.x);
  for (auto row = static_cast<std::int32_t>(blockIdx.y); row < rows;
       row += static_cast<std::int32_t>(gridDim.y)) {
    for (std::int32_t column = first; column < columns; column += step) op(row, column);
  }
}

// ---- Convolutions -------------------------------------------------------------------------------

__host__ __device__ constexpr std::int32_t groups_of(std::int32_t n, std::int32_t each) {
  return (n + each - 1) / each;
}

// A window of a channel and the pixels around it; zeros outside the image.
struct Around {
  float of[4][4];
  __device__ void load(const ImageShape& images, const float* channel, const PixelWindow& window) {
    ANCIFY_UNROLL
    for (int i = 0; i < 4; ++i) {
      ANCIFY_UNROLL
      for (int j = 0; j < 4; ++j) {
        const std::int32_t row = window.row + i - 1;
        const std::int32_t column = window.column + j - 1;
        of[i][j] = images.has(row, column) ? channel[row * images.size + column] : 0;
      }
    }
  }
};

// Two adjacent pixels by one load: a window starts at an even column.
struct alignas(8) TwoPixels {
  float of[2];
};
struct InWindow {
  TwoPixels rows[2];
  __device__ float of(int pixel) const { return rows[pixel / 2].of[pixel % 2]; }
};

// Output channels that a thread sums at once, and their weights for one input pixel.
constexpr std::int32_t kOutputs = 8;
constexpr unsigned kConvolveThreads = 128;
struct alignas(16) OutputWeights {
  float of[kOutputs];
};

// A block computes a group of output channels, whose weights are in shared memory.
__global__ void __launch_bounds__(kConvolveThreads) convolve_kernel(ConvolveOp op) {
  ANCIFY_SHARED_MEMORY(OutputWeights, weights);
  const std::int32_t images = static_cast<std::int32_t>(op.rows) / op.channels;
  const std::int32_t windows = images * op.in.windows();
  const auto first_window = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  for (auto group = static_cast<std::int32_t>(blockIdx.y); group < groups_of(op.channels, kOutputs);
       group += static_cast<std::int32_t>(gridDim.y)) {
    const std::int32_t first = group * kOutputs;
    __syncthreads();  // all threads have read the previous weights
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < 9 * op.in.channels * kOutputs;
         i += kConvolveThreads) {
      const std::int32_t k = i / kOutputs;
      const std::int32_t output = first + i % kOutputs;
      weights[k].of[i % kOutputs] = output < op.channels ? op.weight(output, k / 9, k % 9) : 0;
    }
    __syncthreads();
    for (std::int32_t i = first_window; i < windows;
         i += static_cast<std::int32_t>(gridDim.x * blockDim.x)) {
      const PixelWindow window = op.in.window(i);
      float sums[4][kOutputs] = {};
      const float* channel = op.x + op.in.start(window.image, 0);
      for (std::int32_t from = 0; from < op.in.channels; ++from, channel += op.in.pixels()) {
        Around x;
        x.load(op.in, channel, window);
        ANCIFY_UNROLL
        for (int k = 0; k < 9; ++k) {
          const OutputWeights by = weights[from * 9 + k];
          ANCIFY_UNROLL
          for (int output = 0; output < kOutputs; ++output) {
            ANCIFY_UNROLL
            for (int pixel = 0; pixel < 4; ++pixel) {
              sums[pixel][output] += by.of[output] * x.of[pixel / 2 + k / 3][pixel % 2 + k % 3];
            }
          }
        }
      }
      ANCIFY_UNROLL
      for (int output = 0; output < kOutputs; ++output) {
        if (first + output >= op.channels) continue;
        const float bias = op.biases == nullptr ? 0 : op.biases[first + output];
        float* const to =
            op.y + (std::int64_t{window.image} * op.channels + first + output) * op.in.pixels() +
            window.row * op.in.size + window.column;
        ANCIFY_UNROLL
        for (int row = 0; row < 2; ++row) {
          *reinterpret_cast<TwoPixels*>(to + row * op.in.size) = {
              {sums[2 * row][output] + bias, sums[2 * row + 1][output] + bias}};
        }
      }
    }
  }
}

// Channels whose gradients a thread sums at once, and the sums: 9 weights of each pair of channels,
// then biases.
constexpr std::int32_t kSumsInputs = 2;
constexpr std::int32_t kSumsOutputs = 4;
constexpr unsigned kSumsThreads = 64;
constexpr std::int32_t kPairSums = 9 * kSumsInputs * kSumsOutputs;
constexpr std::int32_t kAllSums = kPairSums + kSumsOutputs;
constexpr unsigned kSumsStride = kSumsThreads + 1;  // so that lanes read different banks

// A block takes a part of the windows, and groups of input and output channels.
struct SumsBlock {
  std::int32_t part;
  std::int32_t output;  // the first one
  std::int32_t input;

  static __host__ __device__ std::int32_t count(const WeightSumsOp& op) {
    return groups_of(op.windows, WeightSumsOp::kWindows) *
           groups_of(op.out.channels, kSumsOutputs) * groups_of(op.in.channels, kSumsInputs);
  }
  __device__ SumsBlock(const WeightSumsOp& op, std::int32_t i) {
    const std::int32_t inputs = groups_of(op.in.channels, kSumsInputs);
    const std::int32_t outputs = groups_of(op.out.channels, kSumsOutputs);
    input = i % inputs * kSumsInputs;
    output = i / inputs % outputs * kSumsOutputs;
    part = i / inputs / outputs;
  }
};

__device__ void add_window(const WeightSumsOp& op, const SumsBlock& block,
                           const PixelWindow& window, float (&sums)[kAllSums]) {
  InWindow slopes[kSumsOutputs];
  ANCIFY_UNROLL
  for (int output = 0; output < kSumsOutputs; ++output) {
    slopes[output] = {};
    if (block.output + output >= op.out.channels) continue;
    const float* const from = op.gradient + op.out.start(window.image, block.output + output) +
                              window.row * op.in.size + window.column;
    ANCIFY_UNROLL
    for (int row = 0; row < 2; ++row) {
      slopes[output].rows[row] = *reinterpret_cast<const TwoPixels*>(from + row * op.in.size);
    }
    ANCIFY_UNROLL
    for (int pixel = 0; pixel < 4; ++pixel) sums[kPairSums + output] += slopes[output].of(pixel);
  }
  ANCIFY_UNROLL
  for (int input = 0; input < kSumsInputs; ++input) {
    if (block.input + input >= op.in.channels) continue;
    Around x;
    x.load(op.in, op.x + op.in.start(window.image, block.input + input), window);
    ANCIFY_UNROLL
    for (int output = 0; output < kSumsOutputs; ++output) {
      ANCIFY_UNROLL
      for (int k = 0; k < 9; ++k) {
        float& sum = sums[(output * kSumsInputs + input) * 9 + k];
        ANCIFY_UNROLL
        for (int pixel = 0; pixel < 4; ++pixel) {
          sum += slopes[output].of(pixel) * x.of[pixel / 2 + k / 3][pixel % 2 + k % 3];
        }
      }
    }
  }
}

// The destination of a block's sum i; null for channels that do not exist.
__device__ float* place_of_sum(const WeightSumsOp& op, const SumsBlock& block, std::int32_t i) {
  const bool of_bias = i >= kPairSums;
  const std::int32_t pair = i / 9;
  const std::int32_t output = block.output + (of_bias ? i - kPairSums : pair / kSumsInputs);
  const std::int32_t input = block.input + pair % kSumsInputs;
  if (output >= op.out.channels) return nullptr;
  if (of_bias ? block.input > 0 : input >= op.in.channels) return nullptr;
  const std::int32_t column = of_bias ? 9 * op.in.channels : 9 * input + i % 9;
  return op.parts + op.at(block.part * op.out.channels + output, column);
}

__global__ void __launch_bounds__(kSumsThreads) weight_sums_kernel(WeightSumsOp op) {
  ANCIFY_SHARED_MEMORY(float, shared);
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < SumsBlock::count(op);
       i += static_cast<std::int32_t>(gridDim.x)) {
    const SumsBlock block(op, i);
    float sums[kAllSums] = {};
    for (std::int32_t window =
             block.part * WeightSumsOp::kWindows + static_cast<std::int32_t>(threadIdx.x);
         window < op.end(block.part); window += kSumsThreads) {
      add_window(op, block, op.in.window(window), sums);
    }
    __syncthreads();  // all threads have read the previous sums
    ANCIFY_UNROLL
    for (std::int32_t k = 0; k < kAllSums; ++k) {
      shared[static_cast<unsigned>(k) * kSumsStride + threadIdx.x] = sums[k];
    }
    __syncthreads();
    for (auto k = static_cast<std::int32_t>(threadIdx.x); k < kAllSums; k += kSumsThreads) {
      float* const to = place_of_sum(op, block, k);
      if (to == nullptr) continue;
      float sum = 0;
      for (unsigned thread = 0; thread < kSumsThreads; ++thread) {
        sum += shared[static_cast<unsigned>(k) * kSumsStride + thread];
      }
      *to = sum;
    }
  }
}

// ---- Launches -----------------------------------------------------------------------------------

class CudaNetworkKernels : public NetworkKernels {
 public:
  CudaNetworkKernels(int number, int card) : device_(number, card), cublas_(device_) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(), cudaFuncGetAttributes(&attributes, convolve_kernel));
  }
  Device& device() override { return device_; }
  void begin(const NetworkOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  // Rows may be short, as in small images.
  template <class Op>
  void launch(const Op& op, int stream) {
    constexpr std::int64_t most = 256;
    constexpr std::int64_t warp = 32;
    const std::int64_t threads = std::min((op.columns + warp - 1) / warp * warp, most);
    const Count n(static_cast<std::size_t>(op.columns), static_cast<std::size_t>(op.rows));
    device_.launch({Op::kName, n, stream, 0, static_cast<unsigned>(threads)}, grid_kernel<Op>, op);
  }
  void launch(const ConvolveOp& op, int stream) {
    const auto channels = static_cast<std::size_t>(op.in.channels);
    const std::size_t windows =
        static_cast<std::size_t>(op.rows / op.channels) * static_cast<std::size_t>(op.in.windows());
    const Count n(windows, static_cast<std::size_t>(groups_of(op.channels, kOutputs)));
    device_.launch(
        {"convolve_kernel", n, stream, 9 * channels * sizeof(OutputWeights), kConvolveThreads},
        convolve_kernel, op);
  }
  void launch(const WeightSumsOp& op, int stream) {
    const auto blocks = static_cast<std::size_t>(SumsBlock::count(op));
    device_.launch({"weight_sums_kernel", blocks * kSumsThreads, stream,
                    kAllSums * kSumsStride * sizeof(float), kSumsThreads},
                   weight_sums_kernel, op);
  }
  void launch(const MatrixProductOp& op, int stream) { cublas_.multiply(op.product, stream); }

  CudaDevice device_;
  Cublas cublas_;
};

}  // namespace

std::unique_ptr<NetworkKernels> open_network_kernels(int number, int card) {
  return std::make_unique<CudaNetworkKernels>(number, card);
}

}  // namespace ancify::cuda
