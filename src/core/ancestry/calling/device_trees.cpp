// Lays out the nodes of boosted trees for devices.
#include "core/ancestry/calling/device_trees.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/exec/errors.h"

namespace ancify {

namespace {

using Forest = BoostedTrees::Forest;

// The columns' indices, sorted by feature.
std::vector<std::size_t> by_feature(const Forest& forest) {
  std::vector<std::size_t> order(forest.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return forest.columns[a].feature < forest.columns[b].feature;
  });
  return order;
}

std::vector<SeenFeature> seen_features(const Forest& forest,
                                       const std::vector<std::size_t>& order) {
  std::vector<SeenFeature> seen;
  for (const std::size_t c : order) {
    const auto& column = forest.columns[c];
    seen.push_back({static_cast<std::uint16_t>(column.feature), column.nan_is_missing(),
                    column.zero_is_missing(), column.missing_value()});
  }
  return seen;
}

struct Walked {
  std::vector<double> leaves;
  std::vector<WalkedNode> nodes;
};

// Adds a tree, whose nodes are stored children first. `place` is each column's rank by feature.
void add_tree(const Forest& forest, const BoostedTrees::Tree& tree,
              const std::vector<std::size_t>& place, Walked& walked) {
  // Rows below most_leaves are leaves; the others are nodes.
  const BoostedTrees::Node* const nodes = forest.nodes.data() + tree.first_node;
  std::vector<std::uint32_t> leaves_below(tree.nodes);
  const auto leaves_of = [&](std::size_t row) {
    return row < forest.most_leaves ? 1 : leaves_below[row - forest.most_leaves];
  };
  for (std::size_t k = 0; k < tree.nodes; ++k) {
    leaves_below[k] = leaves_of(nodes[k].left) + leaves_of(nodes[k].right);
  }
  std::vector<std::size_t> open = {tree.nodes == 0 ? 0 : forest.most_leaves + tree.nodes - 1};
  while (!open.empty()) {
    const std::size_t row = open.back();
    open.pop_back();
    if (row < forest.most_leaves) {
      walked.leaves.push_back(forest.leaves[tree.first_leaf + row]);
      continue;
    }
    const auto& node = nodes[row - forest.most_leaves];
    walked.nodes.push_back(
        {forest.columns[node.column].thresholds[node.code],
         static_cast<std::uint32_t>(place[node.column]) << WalkedNode::kLeavesBits |
             leaves_of(node.left)});
    open.push_back(node.right);
    open.push_back(node.left);
  }
}

template <class Value>
void append(const std::vector<Value>& values, std::vector<char>& bytes) {
  const auto* const from = reinterpret_cast<const char*>(values.data());
  bytes.insert(bytes.end(), from, from + values.size() * sizeof(Value));
}

}  // namespace

DeviceTrees::DeviceTrees(const MlCaller& ml) {
  const Forest& forest = ml.trees().forest();
  if (forest.columns.size() > kMostColumns) {
    throw DeviceError("the model's splits need " + std::to_string(forest.columns.size()) +
                      " feature columns (one per feature and treatment of missing values); a GPU "
                      "takes at most " +
                      std::to_string(kMostColumns) + ": use the CPU");
  }
  const auto order = by_feature(forest);
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  Walked walked;
  std::vector<std::uint32_t> leaves_before = {0};
  for (const auto& tree : forest.trees) {
    add_tree(forest, tree, place, walked);
    leaves_before.push_back(static_cast<std::uint32_t>(walked.leaves.size()));
  }
  trees_ = {nullptr,
            leaves_before.back(),
            static_cast<std::uint32_t>(forest.trees.size()),
            static_cast<std::uint32_t>(order.size()),
            ml.features().inner(),
            ml.thresholds()};
  const double* const errors = ml.phred_scale().largest_error;
  append(walked.leaves, bytes_);
  append(std::vector<double>(errors, errors + kNoPhred), bytes_);
  append(walked.nodes, bytes_);
  append(seen_features(forest, order), bytes_);
  append(leaves_before, bytes_);
}

WalkedTrees DeviceTrees::at(const char* memory) const {
  WalkedTrees trees = trees_;
  trees.memory = memory;
  return trees;
}

DeviceMethod by_trees(const DeviceTrees& trees, int species, bool with_phred) {
  const auto call = [trees = trees.at(nullptr)](const TileAround& around, const char* constants) {
    WalkedTrees there = trees;
    there.memory = constants;
    return CallByTrees{around, there};
  };
  return {species, with_phred, kFeatureReach, trees.bytes(), call};
}

}  // namespace ancify
