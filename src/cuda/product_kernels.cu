// CUDA kernels of products with genotypes. Both halves multiply a matrix of calls or of dosages'
// bytes, whose rows are variants or samples, by digits. The lanes of a warp hold sums of some rows
// and columns of the result. Genotypes and digits go through a block's shared memory in pieces of
// 64 coefficients, ahead of multiplication.
//
// A 32-bit word holds the calls of four samples for a quad. A lane thus takes four rows of calls
// from a word: of four variants in the first half, of four samples in the second. Dosages take four
// words, each of four samples for a variant. Their high bytes, then their low ones, pass through
// the same multiplication.
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

// Products after which 32-bit sums are added to 64-bit ones: far fewer than 2^31 / (128 * 64).
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

struct alignas(8) Eight {
  std::uint32_t words[2];
};

// The two kinds of genotypes. A block has kPlanes times the rows of its quads. kPieces fit the 48
// kB of shared memory that each card has.
struct Calls {
  static constexpr unsigned kRowsOfQuad = 1;
  static constexpr unsigned kPlanes = 1;
  static constexpr unsigned kPieces = 3;
  // Saves shifts: odd variants have 4 times their calls in the first half.
  static constexpr int kOddTimes = 4;

  // Sets 1 for each missing call of a word, or returns the word.
  __device__ static std::uint32_t marks_or_word(std::uint32_t word, bool of_missing) {
    return of_missing ? word & word >> 1 & 0x55555555U : word;
  }

  // The calls of four variants in four samples, twice. `quad`: its row of 64 samples.
  __device__ static void take_variants(const Sixteen* quad, unsigned eight, bool of_missing,
                                       bool /*of_high*/, std::uint32_t (&variants)[2][kQuad]) {
    const Eight words = reinterpret_cast<const Eight*>(quad)[eight];
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint32_t word = marks_or_word(words.words[half], of_missing);
      variants[half][0] = word & 0x03030303U;
      variants[half][1] = word & 0x0c0c0c0cU;
      variants[half][2] = word >> 4 & 0x03030303U;
      variants[half][3] = word >> 4 & 0x0c0c0c0cU;
    }
  }
};

struct Dosages {
  static constexpr unsigned kRowsOfQuad = kQuad;
  static constexpr unsigned kPlanes = kDosagePlanes;
  static constexpr unsigned kPieces = 2;
  static constexpr int kOddTimes = 1;

  // Sets 1 for each missing dosage of a word of high bytes, or sets these bytes to 0. Of high
  // bytes, only kMissingHigh begins with the bits 10.
  __device__ static std::uint32_t marks_or_word(std::uint32_t word, bool of_missing, bool of_high) {
    if (!of_high) return word;
    const std::uint32_t missing = word & ~(word << 1) & 0x80808080U;
    return of_missing ? missing >> 7 : word ^ missing;
  }

  __device__ static void take_variants(const Sixteen* quad, unsigned eight, bool of_missing,
                                       bool of_high, std::uint32_t (&variants)[2][kQuad]) {
    for (unsigned v = 0; v < kQuad; ++v) {
      const Eight words = reinterpret_cast<const Eight*>(quad + v * (kDepth / 16))[eight];
      for (unsigned half = 0; half < 2; ++half) {
        variants[half][v] = marks_or_word(words.words[half], of_missing, of_high);
      }
    }
  }
};

// Rows of quads in 64 samples.
template <class Shape, class Kind>
struct RowsOfVariants {
  static constexpr unsigned kQuads = Shape::kRows / kQuad;
  static constexpr unsigned kSixteensOfQuad = Kind::kRowsOfQuad * kDepth / 16;
  static_assert(kBlockQuads % kQuads == 0, "so that all of them are there");
  Sixteen of[kQuads][kSixteensOfQuad + 2];
};

// Rows of 16 quads, in groups of four, by samples.
template <class Shape, class Kind>
struct RowsOfSamples {
  static constexpr unsigned kSixteensOfGroup = 4 * Kind::kRowsOfQuad * Shape::kRows / 16;
  Sixteen of[4][kSixteensOfGroup + 2];

  // The bytes of four samples in a row of a group.
  __device__ std::uint32_t word(unsigned group, unsigned row, unsigned four) const {
    const unsigned at = row * (Shape::kRows / 4) + four;
    return of[group][at / 4].words[at % 4];
  }
};

template <class Shape, class Kind>
struct PieceOfSamples {
  RowsOfVariants<Shape, Kind> rows;
  Digits<Shape> digits;
};

template <class Shape, class Kind>
struct PieceOfVariants {
  RowsOfSamples<Shape, Kind> rows;
  Digits<Shape> digits;
  CoefficientScale scales[Shape::kColumns];  // of a sum's last piece
};

// A lane's fragments of A for one step of a piece.
template <class Shape>
using RowFragments = std::uint32_t[Shape::kTiles][4];

// The first half.
template <class Shape, class Kind>
class FragmentsOfVariants {
 public:
  __device__ FragmentsOfVariants(const RowsOfVariants<Shape, Kind>& rows, bool of_missing,
                                 bool of_high)
      : rows_(rows), of_missing_(of_missing), of_high_(of_high) {}

  __device__ void take(unsigned step, RowFragments<Shape>& a) const {
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      std::uint32_t variants[2][kQuad];
      Kind::take_variants(rows_.of[Shape::row() / kQuad + 8 * w + lane / 4], 4 * step + lane % 4,
                          of_missing_, of_high_, variants);
      for (unsigned half = 0; half < 2; ++half) {
        for (unsigned v = 0; v < kQuad; ++v) {
          a[2 * w + v / 2][2 * half + v % 2] = variants[half][v];
        }
      }
    }
  }

 private:
  const RowsOfVariants<Shape, Kind>& rows_;
  bool of_missing_;
  bool of_high_;
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

// The second half: a lane takes the variants of one group of four quads, in the order of
// variant_at().
template <class Shape, class Kind>
class FragmentsOfSamples;

template <class Shape>
class FragmentsOfSamples<Shape, Calls> {
 public:
  __device__ FragmentsOfSamples(const RowsOfSamples<Shape, Calls>& rows, bool of_missing,
                                bool /*of_high*/) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned first = Shape::row() / 4 + lane / 4;
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      for (unsigned quad = 0; quad < 4; ++quad) {
        words_[w][quad] =
            Calls::marks_or_word(rows.word(lane % 4, quad, first + 8 * w), of_missing);
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

template <class Shape>
class FragmentsOfSamples<Shape, Dosages> {
 public:
  __device__ FragmentsOfSamples(const RowsOfSamples<Shape, Dosages>& rows, bool of_missing,
                                bool of_high)
      : rows_(rows), of_missing_(of_missing), of_high_(of_high) {}

  __device__ void take(unsigned step, RowFragments<Shape>& a) const {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned first = Shape::row() / 4 + lane / 4;
    for (unsigned w = 0; w < Shape::kWords; ++w) {
      for (unsigned half = 0; half < 2; ++half) {
        std::uint32_t words[4];
        for (unsigned quad = 0; quad < 4; ++quad) {
          words[quad] = Dosages::marks_or_word(
              rows_.word(lane % 4, quad * kQuad + 2 * step + half, first + 8 * w), of_missing_,
              of_high_);
        }
        transpose_bytes(words);
        for (unsigned sample = 0; sample < 4; ++sample) {
          a[2 * w + sample / 2][2 * half + sample % 2] = words[sample];
        }
      }
    }
  }

 private:
  const RowsOfSamples<Shape, Dosages>& rows_;
  bool of_missing_;
  bool of_high_;
};

// A sum over a block, from the sums of digits.
template <class Kind>
__device__ std::int64_t join_digits_of_block(std::int32_t d0, std::int32_t d1, std::int32_t d2,
                                             std::int32_t d3) {
  if (Kind::kPlanes > 1) return join_digits(d0, d1, d2, d3);
  // Sums of two digits fit 32 bits.
  static_assert(3 * 64 * kBlockVariants * (1 + 128) < std::int64_t{1} << 31);
  return join_digits(d0 + 128 * d1, 0, d2 + 128 * d3, 0);
}

// A lane's sums by multiply(), for each digit: rows g and g + 8 of a tile, columns 2 k and 2 k + 1
// of a group.
template <class Shape>
struct LaneSums {
  std::int32_t of[Shape::kTiles][Shape::kGroups][kDigits][4];

  __device__ void clear() {
    for_each([](std::int32_t& sum) { sum = 0; });
  }
  __device__ void multiply_by(std::int32_t factor) {
    for_each([=](std::int32_t& sum) { sum *= factor; });
  }

  // Adds the products of a piece.
  template <class Fragments>
  __device__ void add(const Fragments& rows, const Digits<Shape>& digits) {
    const unsigned lane = threadIdx.x % kLanes;
    ANCIFY_UNROLL
    for (unsigned step = 0; step < kDepth / kStep; ++step) {
      RowFragments<Shape> a;
      rows.take(step, a);
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

 private:
  template <class Use>
  __device__ void for_each(const Use& use) {
    for (auto& of_tile : of) {
      for (auto& of_group : of_tile) {
        for (auto& of_digit : of_group) {
          for (std::int32_t& sum : of_digit) use(sum);
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
// they find the genotypes in the card's cache.
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
  constexpr unsigned kAhead = Pieces::kPieces - 1;
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
    at = at + 1 == Pieces::kPieces ? 0 : at + 1;
  }
  __syncthreads();  // all threads have used the last pieces
}

// The samples of a span in a plane, for a corner.
template <class Shape, class Kind>
struct PiecesOfSamples {
  using Place = PieceOfSamples<Shape, Kind>;
  using Corners = Corner<Shape>;
  static constexpr unsigned kPieces = Kind::kPieces;

  __device__ PiecesOfSamples(const VariantSumsOp& op, const Corner<Shape>& corner, unsigned plane,
                             std::size_t sample)
      : rows(op.genotypes.rows + first_row(corner.row, plane) * op.genotypes.stride + sample),
        stride(op.genotypes.stride),
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
    using Rows = RowsOfVariants<Shape, Kind>;
    constexpr unsigned in_row = kDepth / 16;
    constexpr unsigned in_quad = Rows::kSixteensOfQuad;
    for_each_copy<Rows::kQuads * in_quad>([&](unsigned i) {
      const auto* const row = reinterpret_cast<const Sixteen*>(rows + i / in_row * stride);
      begin_copy(&place.rows.of[i / in_quad][i % in_quad], row + i % in_row, true);
    });
    begin_load_digits(digits, stride * kNumberDigits, columns, place.digits);
  }

  const std::uint8_t* rows;
  std::size_t stride;
  const std::int8_t* digits;
  unsigned columns;
  unsigned left;

 private:
  __device__ static std::size_t first_row(std::size_t variant, unsigned plane) {
    const std::size_t block = variant / kBlockVariants;
    const std::size_t quad = variant % kBlockVariants / kQuad;
    return ((block * Kind::kPlanes + plane) * kBlockQuads + quad) * Kind::kRowsOfQuad;
  }
};

// A thread block iterates over the samples, once for each plane.
template <class Shape, class Kind>
__global__ void __launch_bounds__(kThreads, Shape::kAtOnce) variant_sums_kernel(VariantSumsOp op) {
  using Pieces = PiecesOfSamples<Shape, Kind>;
  ANCIFY_SHARED_MEMORY(Sixteen, room);
  auto* const places = reinterpret_cast<typename Pieces::Place*>(room);
  const unsigned planes = op.of_missing ? 1 : Kind::kPlanes;
  const std::size_t corners = Corner<Shape>::number(op.variants(), op.columns);
  for (std::size_t i = blockIdx.x; i < corners; i += gridDim.x) {
    const Corner<Shape> corner(i, op.columns);
    for (unsigned plane = 0; plane < planes; ++plane) {
      const std::int64_t factor = plane + 1 < planes ? kDosageBase : 1;
      for (std::size_t sample = 0; sample < op.genotypes.stride; sample += kMostProducts) {
        LaneSums<Shape> sums;
        sums.clear();
        for_each_piece(Pieces(op, corner, plane, sample), places,
                       [&](const Pieces&, const typename Pieces::Place& place) {
                         const FragmentsOfVariants<Shape, Kind> rows(place.rows, op.of_missing,
                                                                     plane == 0);
                         sums.add(rows, place.digits);
                       });
        for_each_slot<Shape>([&](const Slot& slot, unsigned in_rows, unsigned in_columns) {
          if (in_columns >= corner.columns) return;
          const auto of = [&](unsigned digit) -> std::int64_t {
            return sums.of[slot.tile][slot.group][digit][2 * slot.row + slot.column] /
                   (slot.row == 0 ? 1 : Kind::kOddTimes);
          };
          std::int64_t& sum =
              op.sums[(corner.row + in_rows) * op.columns + corner.column + in_columns];
          sum = (plane == 0 && sample == 0 ? 0 : sum) +
                factor * join_digits(of(0), of(1), of(2), of(3));
        });
      }
    }
  }
}

// The variants of all blocks, for a corner. Each block is visited once per part: over genotypes,
// and over missing ones if it has any. A visit over dosages has the pieces of both planes.
template <class Shape, class Kind>
struct PiecesOfVariants {
  using Place = PieceOfVariants<Shape, Kind>;
  using Corners = Corner<Shape>;
  static constexpr unsigned kPieces = Kind::kPieces;
  static constexpr unsigned kOfPlane = kBlockVariants / kDepth;
  static constexpr unsigned kRows = kDepth / kQuad * Kind::kRowsOfQuad;

  __device__ PiecesOfVariants(const SampleSumsOp& op, const Corner<Shape>& corner)
      : op(op), corner(corner) {
    begin_block();
  }
  __device__ bool is_left() const { return block < op.blocks; }
  __device__ bool is_high() const { return piece < kOfPlane; }
  __device__ bool ends_a_plane() const { return piece % kOfPlane == kOfPlane - 1; }
  __device__ bool ends_a_sum() const {
    return piece + 1 == (of_missing == 1 ? 1 : Kind::kPlanes) * kOfPlane;
  }
  __device__ bool ends_a_block() const {
    return ends_a_sum() && of_missing == any_missing && part + 1 == op.parts;
  }
  __device__ void next() {
    if (!ends_a_sum()) {
      digits += kDepth * kNumberDigits;
      if (ends_a_plane()) digits -= kBlockDigits;
      ++piece;
      rows += kRows * op.genotypes.stride;
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
    constexpr unsigned in_group = RowsOfSamples<Shape, Kind>::kSixteensOfGroup;
    const std::size_t stride = op.genotypes.stride;
    for_each_copy<kRows * in_row>([&](unsigned i) {
      const auto* const row = reinterpret_cast<const Sixteen*>(rows + i / in_row * stride);
      begin_copy(&place.rows.of[i / in_group][i % in_group], row + i % in_row,
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
    rows = op.genotypes.rows + block * kOfPlane * kRows * Kind::kPlanes * op.genotypes.stride +
           corner.row;
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
template <class Shape, class Kind>
__global__ void __launch_bounds__(kThreads, Shape::kAtOnce) sample_sums_kernel(SampleSumsOp op) {
  using Pieces = PiecesOfVariants<Shape, Kind>;
  ANCIFY_SHARED_MEMORY(Sixteen, room);
  auto* const places = reinterpret_cast<typename Pieces::Place*>(room);
  const std::size_t corners = Corner<Shape>::number(op.samples, op.columns);
  for (std::size_t i = blockIdx.x; i < corners; i += gridDim.x) {
    const Corner<Shape> corner(i, op.columns);
    const auto out_of = [&](unsigned in_rows, unsigned in_columns) -> double* {
      if (corner.row + in_rows >= op.samples || in_columns >= corner.columns) return nullptr;
      return op.out + (corner.column + in_columns) * op.genotypes.stride + corner.row + in_rows;
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
      sums.add(FragmentsOfSamples<Shape, Kind>(place.rows, piece.of_missing == 1, piece.is_high()),
               place.digits);
      if (!piece.ends_a_sum()) {
        // Dosages times digits, summed over a block, fit 32 bits.
        static_assert(std::int64_t{kMostUnit} * 64 * kBlockVariants < std::int64_t{1} << 31);
        if (Kind::kPlanes > 1 && piece.ends_a_plane()) sums.multiply_by(kDosageBase);
        return;
      }
      for_each_slot<Shape>([&](const Slot& slot, unsigned, unsigned in_columns) {
        const auto of = [&](unsigned digit) {
          return sums.of[slot.tile][slot.group][digit][2 * slot.row + slot.column];
        };
        of_block.at(slot) +=
            place.scales[in_columns].number(join_digits_of_block<Kind>(of(0), of(1), of(2), of(3)));
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
using FewOfSamples = Shape<1, 1, 1, 2>;
using ManyOfSamples = Shape<1, 2, 1, 1>;
template <class Kind>
struct ShapesOfVariants {
  using Few = Shape<1, 1, 1, 3>;
  using Many = Shape<2, 1, 2, 2>;
};
// Rows of dosages take more shared memory.
template <>
struct ShapesOfVariants<Dosages> {
  using Few = Shape<1, 1, 1, 2>;
  using Many = Shape<1, 2, 2, 2>;
};

class CudaProductKernels : public ProductKernels {
 public:
  CudaProductKernels(int number, int card) : device_(number, card) {
    load_kernels<Calls>();
    load_kernels<Dosages>();
  }
  Device& device() override { return device_; }
  void begin(const ProductOperation& operation, int stream) override {
    std::visit(
        [&](const auto& op) {
          if (op.genotypes.dosed) {
            launch<Dosages>(op, stream);
          } else {
            launch<Calls>(op, stream);
          }
        },
        operation);
  }

 private:
  template <class Kind>
  void launch(const VariantSumsOp& op, int stream) {
    if (op.columns <= kFewColumns) {
      using Few = typename ShapesOfVariants<Kind>::Few;
      launch<PiecesOfSamples<Few, Kind>>(op, op.variants(), variant_sums_kernel<Few, Kind>, stream);
    } else {
      using Many = typename ShapesOfVariants<Kind>::Many;
      launch<PiecesOfSamples<Many, Kind>>(op, op.variants(), variant_sums_kernel<Many, Kind>,
                                          stream);
    }
  }
  template <class Kind>
  void launch(const SampleSumsOp& op, int stream) {
    if (op.columns <= kFewColumns) {
      using Few = FewOfSamples;
      launch<PiecesOfVariants<Few, Kind>>(op, op.samples, sample_sums_kernel<Few, Kind>, stream);
    } else {
      using Many = ManyOfSamples;
      launch<PiecesOfVariants<Many, Kind>>(op, op.samples, sample_sums_kernel<Many, Kind>, stream);
    }
  }
  template <class Pieces, class Op>
  void launch(const Op& op, std::size_t rows, void (*kernel)(Op), int stream) {
    const std::size_t corners = Pieces::Corners::number(rows, op.columns);
    constexpr std::size_t shared_bytes = Pieces::kPieces * sizeof(typename Pieces::Place);
    static_assert(shared_bytes <= std::size_t{48} << 10, "each card has as many");
    device_.launch({Op::kName, corners * kThreads, stream, shared_bytes, kThreads}, kernel, op);
  }

  // Code that the driver cannot load thus fails before any work.
  template <class Kind>
  void load_kernels() {
    load_now(variant_sums_kernel<typename ShapesOfVariants<Kind>::Few, Kind>);
    load_now(variant_sums_kernel<typename ShapesOfVariants<Kind>::Many, Kind>);
    load_now(sample_sums_kernel<FewOfSamples, Kind>);
    load_now(sample_sums_kernel<ManyOfSamples, Kind>);
  }
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
