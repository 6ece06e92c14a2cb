// Evaluates gradient-boosted trees that tell the four bases apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/trained/lightgbm_model.h"
#include "core/device/portable_exp.h"
#include "core/device/simd.h"

namespace ancify {

// A row's features in memory: feature f of row i is values[f * stride + i].
struct FeatureRows {
  const float* values = nullptr;
  std::size_t stride = 0;
  std::size_t n = 0;
};

// A value as splits see it, where `missing` stands for one that they treat as missing. NaN, if it
// is not missing, is 0.
ANCIFY_HOST_DEVICE inline float seen_value(float value, bool nan_is_missing, bool zero_is_missing,
                                           float missing) {
  constexpr auto zero = static_cast<float>(kZeroThreshold);
  const bool is_nan = value != value;
  const bool is_zero = value <= zero && value >= -zero;
  const bool is_missing = (is_nan && nan_is_missing) || (is_zero && zero_is_missing);
  return is_missing ? missing : is_nan || is_zero ? 0 : value;
}

// Four scores become probabilities.
ANCIFY_HOST_DEVICE inline void softmax(double* scores) {
  const double largest = largest_of(scores);
  double sum = 0;
  for (int base = 0; base < kBases; ++base) {
    scores[base] = portable_exp(scores[base] - largest);
    sum += scores[base];
  }
  for (int base = 0; base < kBases; ++base) scores[base] /= sum;
}

// Gives four numbers a row, one for each base: the same for any division of the rows, at any level.
class BoostedTrees {
 public:
  BoostedTrees(const std::vector<DecisionTree>& trees, int features);
  // The sums of the leaves that a row falls into.
  void scores(const FeatureRows& rows, SimdLevel simd, double* out) const;
  // Their softmax.
  void probabilities(const FeatureRows& rows, SimdLevel simd, double* out) const;
  int features() const { return features_; }

  // A feature as the splits see it: how many of their thresholds a value is not below or at. Splits
  // that treat missing values differently see it differently.
  struct Column {
    int feature;
    MissingValues missing;
    bool missing_left;
    std::vector<float> thresholds;  // ascending

    bool nan_is_missing() const { return missing != MissingValues::kNone; }
    bool zero_is_missing() const { return missing == MissingValues::kZero; }
    // As seen_value() takes it: what is below all thresholds, or NaN, which is below none.
    float missing_value() const;
  };
  // Goes left where the column is at most `code`. Children are rows of a table, see the .cpp.
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
    std::vector<Node> nodes;  // of each tree, every node before its parent
    std::vector<double> leaves;
    std::size_t most_leaves = 1;  // of a tree
  };
  const Forest& forest() const { return forest_; }

 private:
  int features_;
  Forest forest_;
  bool fits_bytes_;
};

}  // namespace ancify
