// Random decision trees with every kind of split, grown as LightGBM does.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "core/ancestry/trained/lightgbm_model.h"

namespace ancify::test {

inline double random_threshold(std::mt19937& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> odd = {0,     -0.0,   1e-35F, -1e-35F, 1e-36, -1e-36,
                                   1e-34, -1e-34, 1,      2,       -1,    0.25};
  if (random() % 2 == 0) return odd[random() % odd.size()];
  if (random() % 20 == 0)
    return (random() % 2 == 0 ? 1 : -1) * (random() % 2 == 0 ? 1e300 : infinity);
  return std::normal_distribution<double>()(random);
}

inline DecisionTree random_tree(std::size_t leaves, int features, std::mt19937& random) {
  DecisionTree tree;
  tree.leaves.resize(1);
  std::vector<int*> to_leaf = {nullptr};  // a pointer to each leaf's index
  tree.splits.reserve(leaves);
  while (tree.leaves.size() < leaves) {
    // As in LightGBM, a leaf becomes a split, and its right child is a new leaf.
    const std::size_t leaf = random() % tree.leaves.size();
    if (to_leaf[leaf] != nullptr) *to_leaf[leaf] = static_cast<int>(tree.splits.size());
    Split split;
    split.feature = static_cast<int>(random() % static_cast<unsigned>(features));
    split.threshold = random_threshold(random);
    split.missing = static_cast<MissingValues>(random() % 3);
    split.missing_left = random() % 2 == 0;
    split.left = ~static_cast<int>(leaf);
    split.right = ~static_cast<int>(tree.leaves.size());
    tree.splits.push_back(split);
    to_leaf[leaf] = &tree.splits.back().left;
    to_leaf.push_back(&tree.splits.back().right);
    tree.leaves.push_back(0);
  }
  for (double& value : tree.leaves) value = std::normal_distribution<double>()(random);
  return tree;
}

// Trees of at most `most_leaves` leaves, one for each base in each round.
inline std::vector<DecisionTree> random_forest(int rounds, std::size_t most_leaves, int features,
                                               std::mt19937& random) {
  std::vector<DecisionTree> trees;
  for (int t = 0; t < 4 * rounds; ++t) {
    trees.push_back(random_tree(1 + random() % most_leaves, features, random));
  }
  return trees;
}

}  // namespace ancify::test
