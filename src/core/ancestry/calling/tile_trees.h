// Calling by boosted trees on a device: the work of one thread, written once for device and host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ancestry/calling/tile_calling.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/trained/boosted_trees.h"
#include "core/ancestry/trained/site_features.h"
#include "core/genome/bases.h"
#include "core/genome/packed.h"

namespace ancify {

// ---- The trees ---------------------------------------------------------------------------------

// A feature as seen by some splits; see BoostedTrees::Column.
struct SeenFeature {
  std::uint16_t feature;
  bool nan_is_missing;
  bool zero_is_missing;
  float missing;  // see seen_value()
};

// A position goes left if its column is at most `threshold`. The nodes of a tree are in preorder:
// each node, its left side, its right side. Leaves are ordered from left to right. The left side
// has one more leaf than nodes, so its number of leaves determines the start of the right side.
struct alignas(8) WalkedNode {
  static constexpr int kLeavesBits = 17;  // below 131,072, LightGBM's limit for a tree

  float threshold;
  std::uint32_t column_and_leaves;

  ANCIFY_HOST_DEVICE std::uint32_t column() const { return column_and_leaves >> kLeavesBits; }
  ANCIFY_HOST_DEVICE std::uint32_t left_leaves() const {
    return column_and_leaves & ((1U << kLeavesBits) - 1);
  }
};

// The most columns of a model, so that the threads of a block have space for their values.
constexpr std::size_t kMostColumns = 256;

// A model in one block of memory, aligned to 8 bytes: leaves, PhredScale, nodes, columns sorted by
// feature, and the number of leaves before each tree and in all trees.
struct WalkedTrees {
  const char* memory;
  std::uint32_t n_leaves;
  std::uint32_t n_trees;
  std::uint32_t n_columns;
  int n_inner;
  Thresholds thresholds;

  ANCIFY_HOST_DEVICE const double* leaves() const {
    return reinterpret_cast<const double*>(memory);
  }
  ANCIFY_HOST_DEVICE const double* largest_error() const { return leaves() + n_leaves; }
  ANCIFY_HOST_DEVICE const WalkedNode* nodes() const {
    return reinterpret_cast<const WalkedNode*>(largest_error() + kNoPhred);
  }
  ANCIFY_HOST_DEVICE const SeenFeature* columns() const {
    return reinterpret_cast<const SeenFeature*>(nodes() + (n_leaves - n_trees));
  }
  ANCIFY_HOST_DEVICE const std::uint32_t* leaves_before() const {
    return reinterpret_cast<const std::uint32_t*>(columns() + n_columns);
  }
  ANCIFY_HOST_DEVICE std::size_t bytes() const {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(leaves_before() + n_trees + 1) -
                                    memory);
  }
};

// The value of a tree's leaf for a position, whose column c has value(c).
template <class Value>
ANCIFY_HOST_DEVICE double leaf_of(const WalkedTrees& trees, std::uint32_t tree, Value value) {
  std::uint32_t leaf = trees.leaves_before()[tree];
  std::uint32_t leaves = trees.leaves_before()[tree + 1] - leaf;
  const WalkedNode* node = trees.nodes() + (leaf - tree);
  while (leaves > 1) {
    const WalkedNode here = *node;
    if (value(here.column()) <= here.threshold) {
      leaves = here.left_leaves();
      ++node;
    } else {
      leaves -= here.left_leaves();
      leaf += here.left_leaves();
      node += here.left_leaves();
    }
  }
  return trees.leaves()[leaf];
}

// ---- The features ------------------------------------------------------------------------------

// Positions to call, and the positions around them. The tile's rows begin at position `first` of
// the chromosome, the calls at `start`. The rows hold all positions in reach.
struct TileAround {
  CallTile tile;
  std::int64_t first;
  std::int64_t start;
  std::int64_t length;  // of the chromosome

  ANCIFY_HOST_DEVICE int code(int species, std::int64_t position) const {
    const char* const bases = tile.bases + static_cast<std::size_t>(species) * tile.pitch;
    const auto i = static_cast<std::size_t>(position - first);
    return tile.packed ? packed_code(bases, i) : base_code(bases[i]);
  }
};

// The number of species with each base, at most 65,535.
class BaseCounts {
 public:
  ANCIFY_HOST_DEVICE void add(int code) {
    if (code != kMissing) counts_ += std::uint64_t{1} << 16 * code;
  }
  ANCIFY_HOST_DEVICE void add(const BaseCounts& others) { counts_ += others.counts_; }
  ANCIFY_HOST_DEVICE int with_data() const { return of(0) + of(1) + of(2) + of(3); }
  ANCIFY_HOST_DEVICE int most() const { return counts_ == 0 ? 0 : of(consensus()); }
  // The most frequent base; ties go to the first; kMissing without data.
  ANCIFY_HOST_DEVICE int consensus() const {
    if (counts_ == 0) return kMissing;
    int best = 0;
    for (int base = 1; base < kBases; ++base) {
      if (of(base) > of(best)) best = base;
    }
    return best;
  }

 private:
  ANCIFY_HOST_DEVICE int of(int base) const {
    return static_cast<int>(counts_ >> 16 * base & 65535);
  }
  std::uint64_t counts_ = 0;
};

// The consensus of all species at a position, which may be beyond the chromosome's ends. The two
// lowest bytes can be summed: the lowest is 1 for a base, the next is 1 for G or C. The code is
// above them.
ANCIFY_HOST_DEVICE inline std::uint32_t consensus_at(const TileAround& around,
                                                     std::int64_t position) {
  BaseCounts counts;
  if (position >= 0 && position < around.length) {
    for (int s = 0; s < around.tile.species; ++s) counts.add(around.code(s, position));
  }
  const int code = counts.consensus();
  return static_cast<std::uint32_t>(code << 16 | (is_gc(code) ? 1 << 8 : 0) |
                                    (code != kMissing ? 1 : 0));
}

ANCIFY_HOST_DEVICE inline int consensus_code(std::uint32_t consensus) {
  return static_cast<int>(consensus >> 16);
}

// Takes features in order, and stores the columns used by splits.
class ColumnWriter {
 public:
  ANCIFY_HOST_DEVICE ColumnWriter(const WalkedTrees& trees, float* values, std::size_t stride)
      : column_(trees.columns()),
        end_(column_ + trees.n_columns),
        values_(values),
        stride_(stride) {}
  ANCIFY_HOST_DEVICE void add(float value) {
    for (; column_ != end_ && column_->feature == feature_; ++column_, values_ += stride_) {
      *values_ =
          seen_value(value, column_->nan_is_missing, column_->zero_is_missing, column_->missing);
    }
    ++feature_;
  }
  ANCIFY_HOST_DEVICE void add(int value) { add(static_cast<float>(value)); }

 private:
  const SeenFeature* column_;
  const SeenFeature* end_;
  float* values_;
  std::size_t stride_;
  int feature_ = 0;
};

// Stores the columns of position i, see SiteFeatures; true if the position has data. `consensus`
// points to its consensus_at(), with kFeatureReach more on each side.
ANCIFY_HOST_DEVICE inline bool write_columns(const TileAround& around, int n_inner, std::size_t i,
                                             const std::uint32_t* consensus, ColumnWriter out) {
  const std::int64_t position = around.start + static_cast<std::int64_t>(i);
  BaseCounts inner;
  BaseCounts outer;
  for (int s = 0; s < around.tile.species; ++s) {
    const int code = around.code(s, position);
    if (s < n_inner) {
      inner.add(code);
    } else {
      outer.add(code);
    }
    out.add(code == kMissing ? -1 : code);
  }
  BaseCounts all = inner;
  all.add(outer);
  out.add(all.with_data());
  out.add(share(all.most(), all.with_data()));
  out.add(inner.consensus());
  out.add(outer.consensus());
  out.add(inner.consensus() != kMissing && inner.consensus() == outer.consensus() ? 1 : 0);

  const auto reach = static_cast<int>(gc_reach(around.length));
  std::uint32_t sum = 0;
  for (int k = -reach; k <= reach; ++k) sum += consensus[k];
  out.add(share(static_cast<int>(sum >> 8 & 255), static_cast<int>(sum & 255)));
  const int before = consensus_code(consensus[-1]);
  const int after = consensus_code(consensus[1]);
  out.add(is_in_cpg(before, consensus_code(consensus[0]), after) ? 1 : 0);
  out.add(before);
  out.add(after);
  return all.with_data() > 0;
}

// ---- A position --------------------------------------------------------------------------------

// Calls position i. `values` has space for the columns, which are `stride` apart.
ANCIFY_HOST_DEVICE inline void call_by_trees(const TileAround& around, const WalkedTrees& trees,
                                             std::size_t i, const std::uint32_t* consensus,
                                             float* values, std::size_t stride) {
  CallBytes site;
  if (write_columns(around, trees.n_inner, i, consensus, {trees, values, stride})) {
    double scores[kBases] = {0, 0, 0, 0};
    const auto value = [=](std::uint32_t column) { return values[column * stride]; };
    for (std::uint32_t tree = 0; tree < trees.n_trees; tree += kBases) {
      for (std::uint32_t base = 0; base < kBases; ++base) {
        scores[base] += leaf_of(trees, tree + base, value);
      }
    }
    softmax(scores);
    site = call_bytes(scores, trees.thresholds, trees.largest_error());
  }
  around.tile.calls[i] = site.call;
  if (around.tile.phred != nullptr) around.tile.phred[i] = site.phred;
}

// The work of a device on a tile. The threads of a block share the consensus around their
// positions.
struct CallByTrees {
  static constexpr const char* kName = "CallByTrees";
  TileAround around;
  WalkedTrees trees;

  ANCIFY_HOST_DEVICE std::size_t n() const { return around.tile.n; }
};

}  // namespace ancify
