// CUDA kernels of products with packed genotypes. Both halves multiply a matrix of calls, whose
// rows are variants or samples, with digits: a warp has 16 rows, and four columns at a time, of
// which each has four digits. Calls and digits go through a block's shared memory in pieces.
#include <cstdint>

#include "cuda/cuda_device.h"
#include "cuda/multiply.h"
#include "cuda/product_kernels.h"

namespace ancify::cuda {

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;                         // per block
constexpr unsigned kWarpRows = 16;                         // of a multiplication
constexpr unsigned kRows = kThreads / kLanes * kWarpRows;  // of a block
constexpr unsigned kGroups = 4;                            // of columns
constexpr unsigned kGroupColumns = 4;
constexpr unsigned kColumns = kGroups * kGroupColumns;  // of a block
constexpr unsigned kDepth = 128;                        // numbers of a piece
constexpr unsigned kFours = kDepth / 4;

// Products after which sums of 32 bits are added to sums of 64: far fewer than 2^31 / (3 * 64).
constexpr std::size_t kMostProducts = std::size_t{1} << 12;

struct alignas(16) Sixteen {
  std::uint32_t words[4];
};

// The digits of four numbers, as one load takes them: 0 and 1, then 2 and 3.
struct alignas(8) TwoDigits {
  std::uint32_t even;
  std::uint32_t odd;
};
struct alignas(16) FourDigits {
  TwoDigits of[2];
};

// A piece: calls of 32 quads in 128 samples, and the digits of 128 numbers of each column. Rows are
// longer than they need, so that lanes read different banks.
struct Piece {
  Sixteen calls[kFours][kDepth / 16 + 1];
  FourDigits digits[kColumns][kFours + 4];
};

// Sums of the digits of a lane's column, for its rows g and g + 8: digits 0 and 2 of both, and
// digits 1 and 3.
struct DigitSums {
  std::int32_t even[4];
  std::int32_t odd[4];
  __device__ std::int64_t number(int row) const {
    return join_digits(even[2 * row], odd[2 * row], even[2 * row + 1], odd[2 * row + 1]);
  }
};
using GroupSums = DigitSums[kGroups];

// The calls of four variants in a sample, from their byte, as bytes.
__device__ std::uint32_t calls_of_byte(std::uint32_t byte) {
  return (byte | byte << 6 | byte << 12 | byte << 18) & 0x03030303U;
}

// Bytes of calls, or 1 for each missing one.
__device__ std::uint32_t calls_or_marks(std::uint32_t calls, bool of_missing) {
  return of_missing ? calls & calls >> 1 & 0x01010101U : calls & 0x03030303U;
}

// Four samples of a variant of the piece.
struct CallsOfVariants {
  const Piece& piece;
  bool of_missing;
  __device__ std::uint32_t operator()(unsigned row, unsigned four) const {
    const std::uint32_t calls = piece.calls[row / 4][four / 4].words[four % 4];
    return calls_or_marks(calls >> (2 * (row % 4)), of_missing);
  }
};

// Four variants of a sample of the piece.
struct CallsOfSamples {
  const Piece& piece;
  bool of_missing;
  __device__ std::uint32_t operator()(unsigned row, unsigned four) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(piece.calls[four]);
    return calls_or_marks(calls_of_byte(bytes[row]), of_missing);
  }
};

// Loads a piece: quads from `rows` on, with `samples` that are there (64 or 128), and fours of
// digits from `digits` on, of `columns` that are `pitch` bytes apart. What is not there is 0.
__device__ void load(const std::uint8_t* rows, std::size_t stride, std::size_t samples,
                     const std::int8_t* digits, std::size_t pitch, std::size_t columns,
                     std::size_t fours, Piece& piece) {
  constexpr unsigned row_pieces = kDepth / 16;
  for (unsigned i = threadIdx.x; i < kFours * row_pieces; i += kThreads) {
    const unsigned quad = i / row_pieces;
    const unsigned at = i % row_pieces;
    piece.calls[quad][at] =
        16 * at < samples
            ? *reinterpret_cast<const Sixteen*>(rows + quad * stride + std::size_t{16} * at)
            : Sixteen{};
  }
  for (unsigned i = threadIdx.x; i < kColumns * kFours; i += kThreads) {
    const unsigned column = i / kFours;
    const unsigned four = i % kFours;
    piece.digits[column][four] =
        column < columns && four < fours
            ? *reinterpret_cast<const FourDigits*>(digits + column * pitch + std::size_t{16} * four)
            : FourDigits{};
  }
}

// Adds the products of a piece.
template <class Calls>
__device__ void add_products(const Calls& calls, unsigned groups, GroupSums& sums) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned row = threadIdx.x / kLanes * kWarpRows + lane / 4;
  const unsigned k = lane % 4;
  for (unsigned four = k; four < kFours; four += 8) {
    Fragments even = {
        {calls(row, four), calls(row + 8, four), calls(row, four + 4), calls(row + 8, four + 4)},
        {}};
    Fragments odd = even;
    for (unsigned group = 0; group < kGroups; ++group) {
      if (group >= groups) break;
      // B's column g is a digit of column g / 2 of the group.
      const auto& digits = calls.piece.digits[group * kGroupColumns + lane / 8];
      const TwoDigits first = digits[four].of[lane / 4 % 2];
      const TwoDigits second = digits[four + 4].of[lane / 4 % 2];
      even.b[0] = first.even;
      even.b[1] = second.even;
      odd.b[0] = first.odd;
      odd.b[1] = second.odd;
      multiply(even, sums[group].even);
      multiply(odd, sums[group].odd);
    }
  }
}

__device__ void clear(GroupSums& sums) {
  for (DigitSums& of_group : sums) of_group = {};
}

// Calls use(group, row of the lane, row of the block, column of the block) for what a lane sums.
template <class Use>
__device__ void for_each_sum(unsigned groups, const Use& use) {
  const unsigned lane = threadIdx.x % kLanes;
  for (unsigned group = 0; group < kGroups; ++group) {
    if (group >= groups) break;
    for (int row = 0; row < 2; ++row) {
      use(group, row, threadIdx.x / kLanes * kWarpRows + lane / 4 + 8 * static_cast<unsigned>(row),
          group * kGroupColumns + lane % 4);
    }
  }
}

// A block's part of a matrix of rows x columns. Blocks that have the same columns follow each
// other.
struct Corner {
  __device__ Corner(std::size_t i, std::size_t rows, std::size_t all_columns)
      : row(i % ((rows + kRows - 1) / kRows) * kRows),
        column(i / ((rows + kRows - 1) / kRows) * kColumns),
        columns(all_columns - column < kColumns ? all_columns - column : kColumns),
        groups(static_cast<unsigned>((columns + kGroupColumns - 1) / kGroupColumns)) {}
  std::size_t row;
  std::size_t column;
  std::size_t columns;
  unsigned groups;
};

ANCIFY_HOST_DEVICE std::size_t corners(std::size_t rows, std::size_t columns) {
  return (rows + kRows - 1) / kRows * ((columns + kColumns - 1) / kColumns);
}

// A block has 32 quads, and goes through their samples.
__global__ void __launch_bounds__(kThreads) variant_sums_kernel(VariantSumsOp op) {
  ANCIFY_SHARED_MEMORY(Piece, room);
  Piece& piece = *room;
  for (std::size_t i = blockIdx.x; i < corners(op.variants(), op.columns); i += gridDim.x) {
    const Corner corner(i, op.variants(), op.columns);
    const std::size_t pitch = op.calls.stride / kQuad * kFourNumbers;
    GroupSums sums;
    clear(sums);
    const auto add = [&](bool first) {
      for_each_sum(corner.groups,
                   [&](unsigned group, int row, unsigned in_rows, unsigned in_columns) {
                     if (in_columns >= corner.columns) return;
                     std::int64_t& sum =
                         op.sums[(corner.row + in_rows) * op.columns + corner.column + in_columns];
                     sum = (first ? 0 : sum) + sums[group].number(row);
                   });
    };
    std::size_t added = 0;
    for (std::size_t sample = 0; sample < op.calls.stride; sample += kDepth) {
      const std::size_t left = op.calls.stride - sample;
      const std::size_t samples = left < kDepth ? left : kDepth;
      __syncthreads();  // all threads have read the previous piece
      load(op.calls.rows + corner.row / kQuad * op.calls.stride + sample, op.calls.stride, samples,
           op.digits_of(corner.column) + sample * kNumberDigits, pitch, corner.columns, samples / 4,
           piece);
      __syncthreads();
      add_products(CallsOfVariants{piece, op.of_missing}, corner.groups, sums);
      if (sample + kDepth - added < kMostProducts) continue;
      add(added == 0);
      clear(sums);
      added = sample + kDepth;
    }
    if (added < op.calls.stride) add(added == 0);
  }
}

// A block has 128 samples, and goes through the blocks of variants.
__global__ void __launch_bounds__(kThreads, 2) sample_sums_kernel(SampleSumsOp op) {
  ANCIFY_SHARED_MEMORY(Piece, room);
  Piece& piece = *room;
  for (std::size_t i = blockIdx.x; i < corners(op.samples, op.columns); i += gridDim.x) {
    const Corner corner(i, op.samples, op.columns);
    const std::size_t left = op.calls.stride - corner.row;
    const std::size_t samples = left < kRows ? left : kRows;
    double of_block[kGroups][2];
    double out[kGroups][2] = {};
    const auto out_of = [&](unsigned in_rows, unsigned in_columns) -> double* {
      if (corner.row + in_rows >= op.samples || in_columns >= corner.columns) return nullptr;
      return op.out + (corner.column + in_columns) * op.calls.stride + corner.row + in_rows;
    };
    for_each_sum(corner.groups,
                 [&](unsigned group, int row, unsigned in_rows, unsigned in_columns) {
                   const double* const from = out_of(in_rows, in_columns);
                   if (from != nullptr) out[group][row] = *from;
                 });
    for (std::size_t block = 0; block < op.blocks; ++block) {
      for (auto& of_group : of_block) of_group[0] = of_group[1] = 0;
      for (std::size_t part = 0; part < op.parts; ++part) {
        const std::size_t whole = part * op.columns + corner.column;
        for (int of_missing = 0; of_missing <= op.any_missing[block]; ++of_missing) {
          GroupSums sums;
          clear(sums);
          for (std::size_t variant = 0; variant < kBlockVariants; variant += kDepth) {
            const std::size_t quad = (block * kBlockVariants + variant) / kQuad;
            __syncthreads();  // all threads have read the previous piece
            load(op.calls.rows + quad * op.calls.stride + corner.row, op.calls.stride, samples,
                 op.digits_of(block, of_missing == 1, whole) + variant * kNumberDigits,
                 kBlockDigits, corner.columns, kFours, piece);
            __syncthreads();
            add_products(CallsOfSamples{piece, of_missing == 1}, corner.groups, sums);
          }
          for_each_sum(corner.groups,
                       [&](unsigned group, int row, unsigned /*in_rows*/, unsigned in_columns) {
                         if (in_columns >= corner.columns) return;
                         op.add(block, of_missing == 1, whole + in_columns, sums[group].number(row),
                                of_block[group][row]);
                       });
        }
      }
      for (unsigned group = 0; group < kGroups; ++group) {
        for (int row = 0; row < 2; ++row) out[group][row] += of_block[group][row];
      }
    }
    for_each_sum(corner.groups,
                 [&](unsigned group, int row, unsigned in_rows, unsigned in_columns) {
                   double* const to = out_of(in_rows, in_columns);
                   if (to != nullptr) *to = out[group][row];
                 });
  }
}

class CudaProductKernels : public ProductKernels {
 public:
  CudaProductKernels(int number, int card) : device_(number, card) {
    load_now(variant_sums_kernel);
    load_now(sample_sums_kernel);
  }
  Device& device() override { return device_; }
  void begin(const ProductOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  void launch(const VariantSumsOp& op, int stream) {
    device_.launch({VariantSumsOp::kName, corners(op.variants(), op.columns) * kThreads, stream,
                    sizeof(Piece), kThreads},
                   variant_sums_kernel, op);
  }
  void launch(const SampleSumsOp& op, int stream) {
    device_.launch({SampleSumsOp::kName, corners(op.samples, op.columns) * kThreads, stream,
                    sizeof(Piece), kThreads},
                   sample_sums_kernel, op);
  }

  // So code that the driver can't load is an error before any work.
  template <class... Parameters>
  void load_now(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(), cudaFuncGetAttributes(&attributes, kernel));
  }

  CudaDevice device_;
};

}  // namespace

std::unique_ptr<ProductKernels> open_product_kernels(int number, int card) {
  return std::make_unique<CudaProductKernels>(number, card);
}

}  // namespace ancify::cuda
