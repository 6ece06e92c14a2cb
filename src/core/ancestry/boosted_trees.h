// Evaluates gradient-boosted trees that tell the four bases apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/lightgbm_model.h"
#include "core/device/simd.h"

namespace ancify {

// A row's features in memory: feature f of row i is values[f * stride + i].
struct FeatureRows {
  const float* values = nullptr;
  std::size_t stride = 0;
  std::size_t n = 0;
};

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

 private:
  int features_;
  Forest forest_;
  bool fits_bytes_;
};

}  // namespace ancify
