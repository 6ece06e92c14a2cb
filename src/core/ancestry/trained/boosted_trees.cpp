// Computes scores s_b, sums of a leaf from each tree of base b, and their softmax (Friedman 2001,
// Ann. Stat. 29:1189, for K classes).
//   p_b = exp(s_b) / sum over c of exp(s_c)
#include "core/ancestry/trained/boosted_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

using Forest = BoostedTrees::Forest;
using Column = BoostedTrees::Column;
using Node = BoostedTrees::Node;

// Rows evaluated together: their data for one tree stay in the nearest cache.
constexpr std::size_t kBlock = 128;

// The largest float not above x. For a float v, v <= x is equivalent to v <= float_below(x).
float float_below(double x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  if (x == static_cast<double>(infinity)) return infinity;
  if (x >= static_cast<double>(largest)) return largest;
  if (x < -static_cast<double>(largest)) return -infinity;
  const auto nearest = static_cast<float>(x);
  return static_cast<double>(nearest) > x ? std::nextafter(nearest, -infinity) : nearest;
}

std::size_t column_of(std::vector<Column>& columns, const Split& split) {
  // If no value counts as missing, missing_left does not matter.
  const bool left = split.missing != MissingValues::kNone && split.missing_left;
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
    return column.feature == split.feature && column.missing == split.missing &&
           column.missing_left == left;
  });
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  columns.push_back({split.feature, split.missing, left, {}});
  return columns.size() - 1;
}

void sort_thresholds(std::vector<Column>& columns) {
  for (auto& column : columns) {
    auto& thresholds = column.thresholds;
    std::sort(thresholds.begin(), thresholds.end());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  }
}

// Adds the nodes of a tree, children first.
void add_nodes(const DecisionTree& tree, Forest& forest) {
  std::vector<int> order = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Split& split = tree.splits[static_cast<std::size_t>(order[i])];
    for (const int child : {split.left, split.right}) {
      if (child >= 0) order.push_back(child);
    }
  }
  std::reverse(order.begin(), order.end());
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  const auto row_of = [&](int child) {
    return static_cast<std::uint32_t>(child < 0 ? static_cast<std::size_t>(~child)
                                                : forest.most_leaves +
                                                      place[static_cast<std::size_t>(child)]);
  };
  for (const int which : order) {
    const Split& split = tree.splits[static_cast<std::size_t>(which)];
    const std::size_t column = column_of(forest.columns, split);
    const auto& thresholds = forest.columns[column].thresholds;
    const auto code =
        std::lower_bound(thresholds.begin(), thresholds.end(), float_below(split.threshold)) -
        thresholds.begin();
    forest.nodes.push_back({static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(code),
                            row_of(split.left), row_of(split.right)});
  }
}

// ---- A block of rows -------------------------------------------------------------------------

// Codes of the columns, and a table of leaf numbers. The table has a row for each leaf, filled with
// its number, and then a row for each node: the leaf that each row of features reaches from there.
template <class Code>
struct Block {
  explicit Block(const Forest& forest)
      : codes(forest.columns.size() * kBlock), table(2 * forest.most_leaves * kBlock) {
    for (std::size_t leaf = 0; leaf < forest.most_leaves; ++leaf) {
      std::fill_n(&table[leaf * kBlock], kBlock, static_cast<Code>(leaf));
    }
  }
  std::vector<Code> codes;  // kBlock a column
  std::vector<Code> table;
  std::array<double, kBases* kBlock> scores = {};  // kBlock a base
};

// Loads the values of a column's feature; beyond n they are 0.
void load_values(const FeatureRows& rows, std::size_t start, std::size_t n, const Column& column,
                 float* values) {
  const float* from = rows.values + static_cast<std::size_t>(column.feature) * rows.stride + start;
  const float missing = column.missing_value();
  const bool nan_is_missing = column.nan_is_missing();
  const bool zero_is_missing = column.zero_is_missing();
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = seen_value(from[i], nan_is_missing, zero_is_missing, missing);
  }
  std::fill(values + n, values + kBlock, 0.0F);
}

template <class Code>
ANCIFY_ALWAYS_INLINE void encode(const float* __restrict values,
                                 const std::vector<float>& thresholds, Code* __restrict codes) {
  std::array<std::int32_t, kBlock> counts = {};
  for (const float threshold : thresholds) {
    for (std::size_t i = 0; i < kBlock; ++i) counts[i] += values[i] <= threshold ? 0 : 1;
  }
  for (std::size_t i = 0; i < kBlock; ++i) codes[i] = static_cast<Code>(counts[i]);
}

template <class Code>
ANCIFY_ALWAYS_INLINE void choose(const Code* __restrict codes, Code most,
                                 const Code* __restrict left, const Code* __restrict right,
                                 Code* __restrict out) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto is_left = static_cast<Code>(-(codes[i] <= most));
    out[i] = static_cast<Code>((left[i] & is_left) | (right[i] & ~is_left));
  }
}

template <class Code>
ANCIFY_ALWAYS_INLINE void evaluate_block(const Forest& forest, Block<Code>& block) {
  block.scores.fill(0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const auto& tree = forest.trees[t];
    Code* out = &block.table[forest.most_leaves * kBlock];
    const Code* ends_in = block.table.data();
    for (std::size_t k = 0; k < tree.nodes; ++k, out += kBlock) {
      const Node& node = forest.nodes[tree.first_node + k];
      choose(&block.codes[node.column * kBlock], static_cast<Code>(node.code),
             &block.table[node.left * kBlock], &block.table[node.right * kBlock], out);
      ends_in = out;
    }
    const double* leaves = &forest.leaves[tree.first_leaf];
    double* scores = &block.scores[t % kBases * kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) scores[i] += leaves[ends_in[i]];
  }
}

template <class Code>
ANCIFY_ALWAYS_INLINE void evaluate(const Forest& forest, const FeatureRows& rows, double* out) {
  Block<Code> block(forest);
  std::array<float, kBlock> values;
  for (std::size_t start = 0; start < rows.n; start += kBlock) {
    const std::size_t here = std::min(kBlock, rows.n - start);
    for (std::size_t c = 0; c < forest.columns.size(); ++c) {
      load_values(rows, start, here, forest.columns[c], values.data());
      encode(values.data(), forest.columns[c].thresholds, &block.codes[c * kBlock]);
    }
    evaluate_block(forest, block);
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t base = 0; base < kBases; ++base) {
        out[(start + i) * kBases + base] = block.scores[base * kBlock + i];
      }
    }
  }
}

// Uses bytes for codes and leaf numbers if they fit.
ANCIFY_ALWAYS_INLINE void evaluate_any(const Forest& forest, bool fits_bytes,
                                       const FeatureRows& rows, double* out) {
  if (fits_bytes) {
    evaluate<std::uint8_t>(forest, rows, out);
  } else {
    evaluate<std::uint32_t>(forest, rows, out);
  }
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void evaluate_avx2(const Forest& forest, bool fits_bytes,
                                      const FeatureRows& rows, double* out) {
  evaluate_any(forest, fits_bytes, rows, out);
}
ANCIFY_TARGET_AVX512 void evaluate_avx512(const Forest& forest, bool fits_bytes,
                                          const FeatureRows& rows, double* out) {
  evaluate_any(forest, fits_bytes, rows, out);
}
#endif

}  // namespace

float Column::missing_value() const {
  return missing_left ? -std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::quiet_NaN();
}

BoostedTrees::BoostedTrees(const std::vector<DecisionTree>& trees, int features)
    : features_(features) {
  for (const auto& tree : trees) {
    forest_.most_leaves = std::max(forest_.most_leaves, tree.leaves.size());
    for (const auto& split : tree.splits) {
      auto& column = forest_.columns[column_of(forest_.columns, split)];
      column.thresholds.push_back(float_below(split.threshold));
    }
  }
  sort_thresholds(forest_.columns);
  for (const auto& tree : trees) {
    forest_.trees.push_back({forest_.leaves.size(), forest_.nodes.size(), tree.splits.size()});
    forest_.leaves.insert(forest_.leaves.end(), tree.leaves.begin(), tree.leaves.end());
    if (!tree.splits.empty()) add_nodes(tree, forest_);
  }
  constexpr std::size_t bytes = std::numeric_limits<std::uint8_t>::max();
  fits_bytes_ = forest_.most_leaves <= bytes + 1 &&
                std::all_of(forest_.columns.begin(), forest_.columns.end(),
                            [](const Column& column) { return column.thresholds.size() <= bytes; });
}

void BoostedTrees::scores(const FeatureRows& rows, SimdLevel simd, double* out) const {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return evaluate_avx512(forest_, fits_bytes_, rows, out);
  if (simd == SimdLevel::kAvx2) return evaluate_avx2(forest_, fits_bytes_, rows, out);
#endif
  (void)simd;
  evaluate_any(forest_, fits_bytes_, rows, out);
}

void BoostedTrees::probabilities(const FeatureRows& rows, SimdLevel simd, double* out) const {
  scores(rows, simd, out);
  for (std::size_t i = 0; i < rows.n; ++i) softmax(out + i * kBases);
}

}  // namespace ancify
