// Evaluates gradient-boosted trees that classify positions by their ancestral base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/trained/lightgbm_model.h"
#include "core/device/portable_exp.h"
#include "core/device/simd.h"

namespace ancify {

// Features of n rows in memory: feature f of row i is values[f * stride + i].
struct FeatureRows {
  const float* values = nullptr;
  std::size_t stride = 0;
  std::size_t n = 0;
};

// A value as splits compare it. A missing value becomes `missing`; a NaN that does not count as
// missing becomes 0.
ANCIFY_HOST_DEVICE inline float seen_value(float value, bool nan_is_missing, bool zero_is_missing,
                                           float missing) {
  constexpr auto zero = static_cast<float>(kZeroThreshold);
  const bool is_nan = value != value;
  const bool is_zero = value <= zero && value >= -zero;
  const bool is_missing = (is_nan && nan_is_missing) || (is_zero && zero_is_missing);
  return is_missing ? missing : is_nan || is_zero ? 0 : value;
}

// Turns the scores of A, C, G, T into probabilities.
ANCIFY_HOST_DEVICE inline void softmax(double* scores) {
  const double largest = largest_of(scores);
  double sum = 0;
  for (int base = 0; base < kBases; ++base) {
    scores[base] = portable_exp(scores[base] - largest);
    sum += scores[base];
  }
  for (int base = 0; base < kBases; ++base) scores[base] /= sum;
}

// Evaluates the trees: four values a row, one for each base. They do not depend on how rows are
// divided or on the SIMD level.
class BoostedTrees {
 public:
  // `trees` as read_lightgbm_model() returns them; `features`: the number of features.
  BoostedTrees(const std::vector<DecisionTree>& trees, int features);
  // The sums of the leaves that each row falls into, to out[4 * row + base].
  void scores(const FeatureRows& rows, SimdLevel simd, double* out) const;
  // The softmax of scores().
  void probabilities(const FeatureRows& rows, SimdLevel simd, double* out) const;
  int features() const { return features_; }

  // A feature as splits see it: the number of thresholds that a value exceeds. Splits that treat
  // missing values differently have different columns.
  struct Column {
    int feature;
    MissingValues missing;
    bool missing_left;
    std::vector<float> thresholds;  // ascending

    bool nan_is_missing() const { return missing != MissingValues::kNone; }
    bool zero_is_missing() const { return missing == MissingValues::kZero; }
    // The argument `missing` of seen_value(): -infinity, which exceeds no threshold, or NaN, which
    // exceeds all.
    float missing_value() const;
  };
  // A position goes left if its column is at most `code`. Children are rows of a table, see Block
  // in the .cpp.
  struct Node {
    std::uint32_t column;
    std::uint32_t code;
    std::uint32_t left;
    std::uint32_t right;
  };
  struct Tree {
    std::size_t first_leaf;
    std::size_t first_node;
    std::size_t nodes;
  };
  struct Forest {
    std::vector<Column> columns;
    std::vector<Tree> trees;
    std::vector<Node> nodes;  // tree by tree, each node before its parent
    std::vector<double> leaves;
    std::size_t most_leaves = 1;  // of any tree
  };
  const Forest& forest() const { return forest_; }

 private:
  int features_;
  Forest forest_;
  bool fits_bytes_;
};

}  // namespace ancify
