// CUDA kernels of products with packed genotypes. Both halves multiply a matrix of calls, whose
// rows are variants or samples, by digits. The lanes of a warp hold sums of some rows and columns
// of the result. Calls and digits go through a block's shared memory in pieces of 64 coefficients,
// two pieces ahead of multiplication.
//
// A 32-bit word holds the calls of four samples for a quad. A lane thus takes four rows of calls
// from a word: of four variants in the first half, of four samples in the second.
#include <cstdint>

#include "core/device/host_device.h"
#include "cuda/async_copy.h"
#include "cuda/cuda_device.h"
#include "cuda/multiply.h"
#include "cuda/product_kernels.h"

namespace ancify::cuda {

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;                           // per block
constexpr unsigned kDepth = 64;                              // coefficients of a piece
constexpr unsigned kSixteens = kDepth * kNumberDigits / 16;  // of their digits
constexpr unsigned kStep = 32;                               // coefficients of a multiplication
constexpr unsigned kDigits = kNumberDigits;
constexpr unsigned kGroupColumns = 8;
constexpr unsigned kPieces = 3;  // in shared memory
constexpr unsigned kAhead = kPieces - 1;

// Products after which 32-bit sums are added to 64-bit ones: far fewer than 2^31 / (12 * 64).
constexpr std::size_t kMostProducts = std::size_t{1} << 14;

// The shape of a kernel's work. A lane takes kWords words of calls at a time, and columns in
// kGroups groups. kAcross warps of a block share rows. kAtOnce blocks should fit a multiprocessor.
template <unsigned kWords_, unsigned kGroups_, unsigned kAcross, unsigned kAtOnce_>
struct Shape {
  static constexpr unsigned kAtOnce = kAtOnce_;
  static constexpr unsigned kWords = kWords_;
  static constexpr unsigned kGroups = kGroups_;
  static constexpr unsigned kTiles = 2 * kWords;  // of 16 rows
  static constexpr unsigned kWarpRows = 16 * kTiles;
  static constexpr unsigned kWarpColumns = kGroups * kGroupColumns;
  static constexpr unsigned kRows = kThreads / kLanes / kAcross * kWarpRows;
  static constexpr unsigned kColumns = kAcross * kWarpColumns;

  // The first row and column of the thread's warp, in the block.
  __device__ static unsigned row() { return threadIdx.x / kLanes / kAcross * kWarpRows; }
  __device__ static unsigned column() { return threadIdx.x / kLanes % kAcross * kWarpColumns; }
};

// The digits of 64 coefficients of each column. Padded columns let lanes read different banks, as
// do padded rows of calls below.
template <class Shape>
struct Digits {
  Sixteen of[Shape::kColumns][kSixteens + 1];
};

// Calls of quads in 64 samples.
template <class Shape>
struct VariantCalls {
  static constexpr unsigned kQuads = Shape::kRows / kQuad;
  static_assert(kBlockQuads % kQuads == 0, "so that all of them are there");
  Sixteen of[kQuads][kDepth / 16 + 2];
};

// Calls of 16 quads, in groups of four, by samples.
template <class Shape>
struct SampleCalls {
  Sixteen of[4][4 * Shape::kRows / 16 + 2];
};

template <class Shape>
struct PieceOfSamples {
  VariantCalls<Shape> calls;
  Digits<Shape> digits;
};

template <class Shape>
struct PieceOfVariants {
  SampleCalls<Shape> calls;
  Digits<Shape> digits;
  CoefficientScale scales[Shape::kColumns];  // of a sum's last piece
};

struct alignas(8) Eight {
  std::uint32_t words[2];
};

// Sets 1 for each missing call of a word, or returns the word.
__device__ std::uint32_t marks_or_calls(std::uint32_t word, bool of_missing) {
  return of_missing ? word & word >> 1 & 0x55555555U : word;
}

// A lane's fragments of A for one step of a piece.
template <class Shape>
using RowFragments = std::uint32_t[Shape::kTiles][4];

// The first half. The lower rows of tiles hold 4 times the calls, which saves shifts.
constexpr int kLowerTimes = 4;

template <class Shape>
class FragmentsOfVariants {
 public:
  __device__ FragmentsOfVariants(const VariantCalls<Shape>& calls, bool of_missing)
      : calls_(calls), of_missing_(of_missing) {}

  __device__ void take(unsigned step, RowFragments<Shape>& a) const {
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      const Sixteen* const row = calls_.of[Shape::row() / kQuad + 8 * w + lane / 4];
      const Eight eight = reinterpret_cast<const Eight*>(row)[4 * step + lane % 4];
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint32_t word = marks_or_calls(eight.words[half], of_missing_);
        a[2 * w][2 * half] = word & 0x03030303U;
        a[2 * w][2 * half + 1] = word & 0x0c0c0c0cU;
        a[2 * w + 1][2 * half] = word >> 4 & 0x03030303U;
        a[2 * w + 1][2 * half + 1] = word >> 4 & 0x0c0c0c0cU;
      }
    }
  }

 private:
  const VariantCalls<Shape>& calls_;
  bool of_missing_;
};

// Transposes the bytes of four words: byte i of each becomes word i.
__device__ void transpose_bytes(std::uint32_t (&words)[4]) {
  const std::uint32_t low01 = __byte_perm(words[0], words[1], 0x5140);
  const std::uint32_t high01 = __byte_perm(words[0], words[1], 0x7362);
  const std::uint32_t low23 = __byte_perm(words[2], words[3], 0x5140);
  const std::uint32_t high23 = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low01, low23, 0x5410);
  words[1] = __byte_perm(low01, low23, 0x7632);
  words[2] = __byte_perm(high01, high23, 0x5410);
  words[3] = __byte_perm(high01, high23, 0x7632);
}

// The second half.
template <class Shape>
class FragmentsOfSamples {
 public:
  __device__ FragmentsOfSamples(const SampleCalls<Shape>& calls, bool of_missing) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned first = Shape::row() / 4 + lane / 4;
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      for (unsigned quad = 0; quad < 4; ++quad) {
        const unsigned at = quad * (Shape::kRows / 4) + first + 8 * w;
        words_[w][quad] = marks_or_calls(calls.of[lane % 4][at / 4].words[at % 4], of_missing);
      }
      transpose_bytes(words_[w]);
    }
  }

  __device__ void take(unsigned step, RowFragments<Shape>& a) const {
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      for (unsigned half = 0; half < 2; ++half) {
        for (unsigned sample = 0; sample < 4; ++sample) {
          a[2 * w + sample / 2][2 * half + sample % 2] =
              words_[w][sample] >> 2 * (2 * step + half) & 0x03030303U;
        }
      }
    }
  }

 private:
  std::uint32_t words_[Shape::kWords][4];  // per sample, for four quads
};

// A sum over a block, from the sums of digits. Sums of two digits fit 32 bits.
__device__ std::int64_t join_digits_of_block(std::int32_t d0, std::int32_t d1, std::int32_t d2,
                                             std::int32_t d3) {
  static_assert(3 * 64 * kBlockVariants * (1 + 128) < std::int64_t{1} << 31);
  return join_digits(d0 + 128 * d1, 0, d2 + 128 * d3, 0);
}

// A lane's sums by multiply(), for each digit: rows g and g + 8 of a tile, columns 2 k and 2 k + 1
// of a group.
template <class Shape>
struct LaneSums {
  std::int32_t of[Shape::kTiles][Shape::kGroups][kDigits][4];

  __device__ void clear() {
    for (auto& of_tile : of) {
      for (auto& of_group : of_tile) {
        for (auto& of_digit : of_group) {
          for (std::int32_t& sum : of_digit) sum = 0;
        }
      }
    }
  }

  // Adds the products of a piece.
  template <class Fragments>
  __device__ void add(const Fragments& calls, const Digits<Shape>& digits) {
    const unsigned lane = threadIdx.x % kLanes;
    ANCIFY_UNROLL
    for (unsigned step = 0; step < kDepth / kStep; ++step) {
      RowFragments<Shape> a;
      calls.take(step, a);
      ANCIFY_UNROLL
      for (unsigned group = 0; group < Shape::kGroups; ++group) {
        const Sixteen* const of_eight =
            digits.of[Shape::column() + group * kGroupColumns + lane / 4] + 8 * step +
            2 * (lane % 4);
        const Sixteen sixteens[2] = {of_eight[0], of_eight[1]};
        ANCIFY_UNROLL
        for (unsigned digit = 0; digit < kDigits; ++digit) {
          const std::uint32_t* const words = sixteens[digit / 2].words + digit % 2 * 2;
          const FragmentOfB b = {words[0], words[1]};
          ANCIFY_UNROLL
          for (unsigned tile = 0; tile < Shape::kTiles; ++tile) {
            multiply(a[tile], b, of[tile][group][digit]);
          }
        }
      }
    }
  }
};

// Calls use(slot of the lane, row of the block, column of the block) for each sum of a lane.
struct Slot {
  unsigned tile, group, row, column;
};
template <class Shape, class Use>
__device__ void for_each_slot(const Use& use) {
  const unsigned lane = threadIdx.x % kLanes;
  ANCIFY_UNROLL
  for (unsigned group = 0; group < Shape::kGroups; ++group) {
    ANCIFY_UNROLL
    for (unsigned column = 0; column < 2; ++column) {
      ANCIFY_UNROLL
      for (unsigned tile = 0; tile < Shape::kTiles; ++tile) {
        ANCIFY_UNROLL
        for (unsigned row = 0; row < 2; ++row) {
          use(Slot{tile, group, row, column},
              Shape::row() + tile / 2 * 32 + lane / 4 * 4 + tile % 2 * 2 + row,
              Shape::column() + group * kGroupColumns + lane % 4 * 2 + column);
        }
      }
    }
  }
}

// A block's part of a matrix of rows x columns. Blocks with equal rows are consecutive, so that
// they find the calls in the card's cache.
template <class Shape>
struct Corner {
  __device__ Corner(std::size_t i, std::size_t all_columns)
      : row(i / across(all_columns) * Shape::kRows),
        column(i % across(all_columns) * Shape::kColumns),
        columns(static_cast<unsigned>(all_columns - column < Shape::kColumns ? all_columns - column
                                                                             : Shape::kColumns)) {}
  static ANCIFY_HOST_DEVICE std::size_t across(std::size_t columns) {
    return (columns + Shape::kColumns - 1) / Shape::kColumns;
  }
  static ANCIFY_HOST_DEVICE std::size_t number(std::size_t rows, std::size_t columns) {
    return (rows + Shape::kRows - 1) / Shape::kRows * across(columns);
  }

  std::size_t row;
  std::size_t column;
  unsigned columns;
};

// Calls begin(i) for the copies of a piece, shared among a block's threads.
template <unsigned kCopies, class Begin>
__device__ void for_each_copy(const Begin& begin) {
  ANCIFY_UNROLL
  for (unsigned first = 0; first < kCopies; first += kThreads) {
    if (first + kThreads <= kCopies || first + threadIdx.x < kCopies) begin(first + threadIdx.x);
  }
}

// Starts to load the digits of a piece for `columns` that are `pitch` bytes apart. Other columns
// are 0.
template <class Shape>
__device__ void begin_load_digits(const std::int8_t* digits, std::size_t pitch, unsigned columns,
                                  Digits<Shape>& to) {
  for_each_copy<Shape::kColumns * kSixteens>([&](unsigned i) {
    const unsigned column = i / kSixteens;
    const auto* const from = reinterpret_cast<const Sixteen*>(digits + column * pitch);
    begin_copy(&to.of[column][i % kSixteens], from + i % kSixteens, column < columns);
  });
}

// Calls use(piece of Pieces, its slot) for each piece in order. `first` is the first piece; Pieces
// has is_left(), next(), and begin_load(slot).
template <class Pieces, class Place, class Use>
__device__ void for_each_piece(const Pieces& first, Place* places, const Use& use) {
  Pieces ahead = first;
  const auto begin_load = [&](Place& place) {
    if (ahead.is_left()) {
      ahead.begin_load(place);
      ahead.next();
    }
    end_group_of_copies();
  };
  for (unsigned i = 0; i < kAhead; ++i) begin_load(places[i]);
  unsigned at = 0;
  for (Pieces now = first; now.is_left(); now.next()) {
    wait_for_copies<kAhead - 1>();
    __syncthreads();  // all threads have loaded this piece and used the previous one
    begin_load(places[at == 0 ? kAhead : at - 1]);
    use(now, places[at]);
    at = at + 1 == kPieces ? 0 : at + 1;
  }
  __syncthreads();  // all threads have used the last pieces
}

// The samples of a span, for a corner.
template <class Shape>
struct PiecesOfSamples {
  using Place = PieceOfSamples<Shape>;
  using Corners = Corner<Shape>;

  __device__ PiecesOfSamples(const VariantSumsOp& op, const Corner<Shape>& corner,
                             std::size_t sample)
      : rows(op.calls.rows + corner.row / kQuad * op.calls.stride + sample),
        stride(op.calls.stride),
        digits(op.digits_of(corner.column) + sample * kNumberDigits),
        columns(corner.columns),
        left(static_cast<unsigned>(
            (stride - sample < kMostProducts ? stride - sample : kMostProducts) / kDepth)) {}
  __device__ bool is_left() const { return left > 0; }
  __device__ void next() {
    rows += kDepth;
    digits += kDepth * kNumberDigits;
    --left;
  }
  __device__ void begin_load(Place& place) const {
    constexpr unsigned in_row = kDepth / 16;
    for_each_copy<VariantCalls<Shape>::kQuads * in_row>([&](unsigned i) {
      const unsigned quad = i / in_row;
      const auto* const row = reinterpret_cast<const Sixteen*>(rows + quad * stride);
      begin_copy(&place.calls.of[quad][i % in_row], row + i % in_row, true);
    });
    begin_load_digits(digits, stride * kNumberDigits, columns, place.digits);
  }

  const std::uint8_t* rows;
  std::size_t stride;
  const std::int8_t* digits;
  unsigned columns;
  unsigned left;
};

// A thread block iterates over the samples.
template <class Shape>
__global__ void __launch_bounds__(kThreads, Shape::kAtOnce) variant_sums_kernel(VariantSumsOp op) {
  using Pieces = PiecesOfSamples<Shape>;
  ANCIFY_SHARED_MEMORY(Sixteen, room);
  auto* const places = reinterpret_cast<typename Pieces::Place*>(room);
  const std::size_t corners = Corner<Shape>::number(op.variants(), op.columns);
  for (std::size_t i = blockIdx.x; i < corners; i += gridDim.x) {
    const Corner<Shape> corner(i, op.columns);
    for (std::size_t sample = 0; sample < op.calls.stride; sample += kMostProducts) {
      LaneSums<Shape> sums;
      sums.clear();
      for_each_piece(Pieces(op, corner, sample), places,
                     [&](const Pieces&, const typename Pieces::Place& place) {
                       const FragmentsOfVariants<Shape> calls(place.calls, op.of_missing);
                       sums.add(calls, place.digits);
                     });
      for_each_slot<Shape>([&](const Slot& slot, unsigned in_rows, unsigned in_columns) {
        if (in_columns >= corner.columns) return;
        const auto of = [&](unsigned digit) -> std::int64_t {
          return sums.of[slot.tile][slot.group][digit][2 * slot.row + slot.column] /
                 (slot.row == 0 ? 1 : kLowerTimes);
        };
        std::int64_t& sum =
            op.sums[(corner.row + in_rows) * op.columns + corner.column + in_columns];
        sum = (sample == 0 ? 0 : sum) + join_digits(of(0), of(1), of(2), of(3));
      });
    }
  }
}

// The variants of all blocks, for a corner. Each block is visited once per part: over calls, and
// over missing calls if it has any.
template <class Shape>
struct PiecesOfVariants {
  using Place = PieceOfVariants<Shape>;
  using Corners = Corner<Shape>;
  static constexpr unsigned kOfBlock = kBlockVariants / kDepth;
  static constexpr unsigned kQuads = kDepth / kQuad;

  __device__ PiecesOfVariants(const SampleSumsOp& op, const Corner<Shape>& corner)
      : op(op), corner(corner) {
    begin_block();
  }
  __device__ bool is_left() const { return block < op.blocks; }
  __device__ bool ends_a_sum() const { return piece + 1 == kOfBlock; }
  __device__ bool ends_a_block() const {
    return ends_a_sum() && of_missing == any_missing && part + 1 == op.parts;
  }
  __device__ void next() {
    if (!ends_a_sum()) {
      ++piece;
      rows += kQuads * op.calls.stride;
      digits += kDepth * kNumberDigits;
    } else if (!ends_a_block()) {
      part += of_missing == any_missing;
      of_missing = of_missing < any_missing;
      begin_sum();
    } else {
      ++block;
      begin_block();
    }
  }
  __device__ void begin_load(Place& place) const {
    constexpr unsigned in_row = Shape::kRows / 16;
    const std::size_t stride = op.calls.stride;
    for_each_copy<kQuads * in_row>([&](unsigned i) {
      const auto* const row = reinterpret_cast<const Sixteen*>(rows + i / in_row * stride);
      begin_copy(&place.calls.of[i / in_row / 4][i % (4 * in_row)], row + i % in_row,
                 corner.row + i % in_row * 16 < stride);
    });
    begin_load_digits(digits, kBlockDigits, corner.columns, place.digits);
    if (!ends_a_sum()) return;
    static_assert(sizeof(CoefficientScale) == sizeof(Sixteen));
    for_each_copy<Shape::kColumns>([&](unsigned column) {
      begin_copy(place.scales + column, op.scales + first_column() + column,
                 column < corner.columns);
    });
  }

  const SampleSumsOp& op;
  const Corner<Shape>& corner;
  std::size_t block = 0;
  std::size_t part;
  unsigned any_missing;  // read once per block, as threads would wait for it
  unsigned of_missing;
  unsigned piece;
  const std::uint8_t* rows;
  const std::int8_t* digits;

 private:
  __device__ std::size_t first_column() const {
    return op.place_of(block, of_missing == 1, part * op.columns + corner.column);
  }
  __device__ void begin_block() {
    any_missing = is_left() ? op.any_missing[block] : 0;
    part = of_missing = 0;
    begin_sum();
  }
  __device__ void begin_sum() {
    piece = 0;
    rows = op.calls.rows + block * kBlockQuads * op.calls.stride + corner.row;
    digits = op.digits + first_column() * kBlockDigits;
  }
};

// The number of a lane's sums.
template <class Shape>
struct LaneNumbers {
  double of[Shape::kTiles][Shape::kGroups][2][2] = {};
  __device__ double& at(const Slot& slot) {
    return of[slot.tile][slot.group][slot.row][slot.column];
  }
};

// A thread block iterates over the blocks of variants.
template <class Shape>
__global__ void __launch_bounds__(kThreads, Shape::kAtOnce) sample_sums_kernel(SampleSumsOp op) {
  using Pieces = PiecesOfVariants<Shape>;
  ANCIFY_SHARED_MEMORY(Sixteen, room);
  auto* const places = reinterpret_cast<typename Pieces::Place*>(room);
  const std::size_t corners = Corner<Shape>::number(op.samples, op.columns);
  for (std::size_t i = blockIdx.x; i < corners; i += gridDim.x) {
    const Corner<Shape> corner(i, op.columns);
    const auto out_of = [&](unsigned in_rows, unsigned in_columns) -> double* {
      if (corner.row + in_rows >= op.samples || in_columns >= corner.columns) return nullptr;
      return op.out + (corner.column + in_columns) * op.calls.stride + corner.row + in_rows;
    };
    LaneNumbers<Shape> out;
    for_each_slot<Shape>([&](const Slot& slot, unsigned in_rows, unsigned in_columns) {
      const double* const from = out_of(in_rows, in_columns);
      if (from != nullptr) out.at(slot) = *from;
    });
    LaneNumbers<Shape> of_block;
    LaneSums<Shape> sums;
    sums.clear();
    const auto use = [&](const Pieces& piece, const typename Pieces::Place& place) {
      sums.add(FragmentsOfSamples<Shape>(place.calls, piece.of_missing == 1), place.digits);
      if (!piece.ends_a_sum()) return;
      for_each_slot<Shape>([&](const Slot& slot, unsigned, unsigned in_columns) {
        const auto of = [&](unsigned digit) {
          return sums.of[slot.tile][slot.group][digit][2 * slot.row + slot.column];
        };
        of_block.at(slot) +=
            place.scales[in_columns].number(join_digits_of_block(of(0), of(1), of(2), of(3)));
      });
      sums.clear();
      if (!piece.ends_a_block()) return;
      for_each_slot<Shape>([&](const Slot& slot, unsigned, unsigned) {
        out.at(slot) += of_block.at(slot);
        of_block.at(slot) = 0;
      });
    };
    for_each_piece(Pieces(op, corner), places, use);
    for_each_slot<Shape>([&](const Slot& slot, unsigned in_rows, unsigned in_columns) {
      double* const to = out_of(in_rows, in_columns);
      if (to != nullptr) *to = out.at(slot);
    });
  }
}

// With few columns the card's memory is the bound: small sums let more blocks run at once.
constexpr std::size_t kFewColumns = kGroupColumns;
using FewOfVariants = Shape<1, 1, 1, 3>;
using FewOfSamples = Shape<1, 1, 1, 2>;
using ManyOfVariants = Shape<2, 1, 2, 2>;
using ManyOfSamples = Shape<1, 2, 1, 1>;

class CudaProductKernels : public ProductKernels {
 public:
  CudaProductKernels(int number, int card) : device_(number, card) {
    load_now(variant_sums_kernel<FewOfVariants>);
    load_now(variant_sums_kernel<ManyOfVariants>);
    load_now(sample_sums_kernel<FewOfSamples>);
    load_now(sample_sums_kernel<ManyOfSamples>);
  }
  Device& device() override { return device_; }
  void begin(const ProductOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  void launch(const VariantSumsOp& op, int stream) {
    if (op.columns <= kFewColumns) {
      using Few = FewOfVariants;
      launch<PiecesOfSamples<Few>>(op, op.variants(), variant_sums_kernel<Few>, stream);
    } else {
      using Many = ManyOfVariants;
      launch<PiecesOfSamples<Many>>(op, op.variants(), variant_sums_kernel<Many>, stream);
    }
  }
  void launch(const SampleSumsOp& op, int stream) {
    if (op.columns <= kFewColumns) {
      using Few = FewOfSamples;
      launch<PiecesOfVariants<Few>>(op, op.samples, sample_sums_kernel<Few>, stream);
    } else {
      using Many = ManyOfSamples;
      launch<PiecesOfVariants<Many>>(op, op.samples, sample_sums_kernel<Many>, stream);
    }
  }
  template <class Pieces, class Op>
  void launch(const Op& op, std::size_t rows, void (*kernel)(Op), int stream) {
    const std::size_t corners = Pieces::Corners::number(rows, op.columns);
    device_.launch(
        {Op::kName, corners * kThreads, stream, kPieces * sizeof(typename Pieces::Place), kThreads},
        kernel, op);
  }

  // Code that the driver cannot load thus fails before any work.
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
