// Attention in half precision by products of small matrices (multiply_halves.h): the work of one
// thread of a block. A block has up to 64 queries of a head, 16 per warp. Keys and values go
// through shared memory in tiles; one is copied while another is used. Only .cu files include this.
//
// Dao T, Fu DY, Ermon S, Rudra A, Re C (2022) FlashAttention: fast and memory-efficient exact
// attention with IO-awareness. NeurIPS 35.
//
// Values beyond half precision are infinite, and make a query's result non-finite.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/nn/device_ops.h"
#include "cuda/async_copy.h"
#include "cuda/launch.h"
#include "cuda/multiply_halves.h"
#include "cuda/warp.h"

namespace ancify::cuda {

constexpr int kTileThreads = 128;
static_assert(kBlockQueries == kTileThreads / 32 * 16);

// The sizes for heads of width up to kWide.
template <int kWide>
struct HalfTiles {
  static constexpr int kKeys = kWide <= 64 ? 64 : 32;  // of a tile
  // Words of a row in shared memory, two halves each. Four words of padding let the lanes of a warp
  // read different banks.
  static constexpr int kRowWords = kWide / 2 + 4;
  static constexpr int kTileWords = kKeys * kRowWords;
  // Keys and values of two tiles, or queries instead of one tile.
  static constexpr int kWords = 4 * kTileWords;
  static_assert(kBlockQueries <= 2 * kKeys);
};

// Starts to copy the parts of n <= kRows tokens from `first` on. Zeros fill the rows up to the next
// 16, and the columns beyond the width of a head. With kAnyWidth, that width is no multiple of 8.
template <int kWide, int kRows, bool kAnyWidth>
__device__ void copy_rows(const AttentionOp<Half>& op, AttentionOp<Half>::Part part, int head,
                          std::int32_t first, int n, std::uint32_t* to) {
  constexpr int row_words = HalfTiles<kWide>::kRowWords;
  const int rows = (n + 15) / 16 * 16;
  if constexpr (kAnyWidth) {
    constexpr int each = kWide / 2;  // of a row
    for (int e = static_cast<int>(threadIdx.x); e < rows * each; e += kTileThreads) {
      const int row = e / each;
      const int j = e % each * 2;
      float x[2] = {};
      ANCIFY_UNROLL
      for (int k = 0; k < 2; ++k) {
        if (row < n) x[k] = op.component(part, first + row, head, j + k);
      }
      to[row * row_words + j / 2] = pair_of(x[0], x[1]);
    }
  } else {
    constexpr int each = kWide / 8;
    const int j = static_cast<int>(threadIdx.x) % each * 8;
    ANCIFY_UNROLL
    for (int at = 0; at < kRows; at += kTileThreads / each) {
      const int row = at + static_cast<int>(threadIdx.x) / each;
      const bool exist = row < n && j < op.wide;
      if (row < rows) {
        begin_copy(to + row * row_words + j / 2,
                   exist ? op.row(part, first + row, head) + j : op.qkv, exist);
      }
    }
  }
}

// A thread's position in its warp (multiply_halves.h).
struct LanePlace {
  int group;  // g
  int place;  // k
  // The row and word that the lane loads, if matrices are stacked, and if they are adjacent.
  int row_below, word_below;
  int row_beside, word_beside;

  __device__ LanePlace() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    group = lane / 4;
    place = lane % 4;
    row_below = lane / 8 % 2 * 8 + lane % 8;
    word_below = lane / 16 * 4;
    row_beside = lane / 16 * 8 + lane % 8;
    word_beside = lane / 8 % 2 * 4;
  }
};

// The keys of a tile, for a query.
struct KeysSeen {
  int n;
  std::int32_t first;  // the tile's first token
  std::int32_t query;  // the query of row g
  float scale;         // of logits, in units of ln 2
  float slope;         // of distances, in units of the scale
};

// The state of a warp's 16 queries over the keys so far. A lane holds parts of rows g and g + 8:
// their sums, and the total of weights.
template <int kWide>
class QueriesOfWarp {
  using Tiles = HalfTiles<kWide>;

 public:
  __device__ int group() const { return at_.group; }
  // `rows`: the warp's first row of queries, and the following ones.
  __device__ void begin(const std::uint32_t* rows) {
    ANCIFY_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      load_matrices(rows + at_.row_below * Tiles::kRowWords + 8 * s + at_.word_below, queries_[s]);
    }
  }

  // Does nothing if the warp has no queries.
  __device__ ANCIFY_APART void see(const std::uint32_t* keys, const std::uint32_t* values,
                                   const KeysSeen& of, int queries) {
    if (queries <= 0) return;
    float logits[Tiles::kKeys / 8][4] = {};
    ANCIFY_UNROLL
    for (int t = 0; t < Tiles::kKeys / 16; ++t) {
      if (16 * t < of.n) {
        const std::uint32_t* const row =
            keys + (16 * t + at_.row_beside) * Tiles::kRowWords + at_.word_beside;
        ANCIFY_UNROLL
        for (int s = 0; s < kSteps; ++s) {
          const std::uint32_t(&q)[4] = queries_[s];
          std::uint32_t words[4];
          load_matrices(row + 8 * s, words);
          multiply({{q[0], q[1], q[2], q[3]}, {words[0], words[1]}}, logits[2 * t]);
          multiply({{q[0], q[1], q[2], q[3]}, {words[2], words[3]}}, logits[2 * t + 1]);
        }
      }
    }
    soften(logits, of);
    ANCIFY_UNROLL
    for (int t = 0; t < Tiles::kKeys / 16; ++t) {
      if (16 * t < of.n) {
        const float(&low)[4] = logits[2 * t];
        const float(&high)[4] = logits[2 * t + 1];
        const std::uint32_t weights[4] = {pair_of(low[0], low[1]), pair_of(low[2], low[3]),
                                          pair_of(high[0], high[1]), pair_of(high[2], high[3])};
        const std::uint32_t* const row =
            values + (16 * t + at_.row_below) * Tiles::kRowWords + at_.word_below;
        ANCIFY_UNROLL
        for (int s = 0; s < kSteps; ++s) {
          std::uint32_t words[4];
          load_transposed(row + 8 * s, words);
          const std::uint32_t(&w)[4] = weights;
          multiply({{w[0], w[1], w[2], w[3]}, {words[0], words[1]}}, sums_[2 * s]);
          multiply({{w[0], w[1], w[2], w[3]}, {words[2], words[3]}}, sums_[2 * s + 1]);
        }
      }
    }
  }

  // Writes the warp's rows that are queries; `query` is the query of row g.
  __device__ ANCIFY_APART void end(const AttentionOp<Half>& op, std::int32_t query, int head,
                                   int queries) {
    if (queries <= 0) return;
    ANCIFY_UNROLL
    for (int r = 0; r < 2; ++r) {
      float total = totals_[r];
      total += of_other_lane(total, 1);
      total += of_other_lane(total, 2);
      if (at_.group + 8 * r < queries) {
        const float scale = 1 / total;
        const auto row = static_cast<std::size_t>(query + 8 * r);
        Half* const to = op.out + row * op.row_width() + head * op.wide;
        ANCIFY_UNROLL
        for (int s = 0; s < 2 * kSteps; ++s) {
          const int j = 8 * s + 2 * at_.place;
          put(pair_of(sums_[s][2 * r] * scale, sums_[s][2 * r + 1] * scale), to + j, op.wide - j);
        }
      }
    }
  }

 private:
  static constexpr int kSteps = kWide / 16;  // of 16 components

  // Turns logits into weights. A larger logit rescales the sums so far.
  __device__ void soften(float (&logits)[Tiles::kKeys / 8][4], const KeysSeen& of) {
    ANCIFY_UNROLL
    for (int t = 0; t < Tiles::kKeys / 8; ++t) {
      ANCIFY_UNROLL
      for (int i = 0; i < 4; ++i) logits[t][i] += 0 * logits[t][i];  // NaN if not finite
    }
    if (of.slope != 0 || of.n < Tiles::kKeys) {
      ANCIFY_UNROLL
      for (int t = 0; t < Tiles::kKeys / 8; ++t) {
        ANCIFY_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int key = 8 * t + 2 * at_.place + i % 2;
          const auto distance = static_cast<float>(of.query + i / 2 * 8 - of.first - key);
          logits[t][i] -= of.slope * std::fabs(distance);
          if (key >= of.n) logits[t][i] = -INFINITY;
        }
      }
    }
    ANCIFY_UNROLL
    for (int r = 0; r < 2; ++r) {
      float now = most_[r];
      ANCIFY_UNROLL
      for (int t = 0; t < Tiles::kKeys / 8; ++t) {
        now = std::fmax(now, std::fmax(logits[t][2 * r], logits[t][2 * r + 1]));
      }
      now = std::fmax(now, of_other_lane(now, 1));
      now = std::fmax(now, of_other_lane(now, 2));
      const float shrink = quick_exp2_negative((most_[r] - now) * of.scale);
      most_[r] = now;
      totals_[r] *= shrink;
      ANCIFY_UNROLL
      for (int s = 0; s < 2 * kSteps; ++s) {
        sums_[s][2 * r] *= shrink;
        sums_[s][2 * r + 1] *= shrink;
      }
      const float scaled = now * of.scale;
      ANCIFY_UNROLL
      for (int t = 0; t < Tiles::kKeys / 8; ++t) {
        ANCIFY_UNROLL
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          logits[t][i] = quick_exp2_negative(logits[t][i] * of.scale - scaled);
          totals_[r] += logits[t][i];
        }
      }
    }
  }

  // Writes the first n of two components.
  static __device__ void put(std::uint32_t pair, Half* to, int n) {
    Several<Half, 2> halves;
    std::memcpy(&halves, &pair, sizeof halves);
    if (n >= 2 && n % 2 == 0) {
      several_at<2>(to) = halves;
    } else {
      if (n >= 1) to[0] = halves.at[0];
      if (n >= 2) to[1] = halves.at[1];
    }
  }

  LanePlace at_;
  std::uint32_t queries_[kSteps][4];
  float sums_[2 * kSteps][4] = {};
  float most_[2] = {-INFINITY, -INFINITY};
  float totals_[2] = {};
};

}  // namespace ancify::cuda
