// The features of positions, and what boosted trees make of them.
#include "core/ancestry/trained/boosted_trees.h"

#include "core/ancestry/trained/site_features.h"
#include "inputs.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

namespace {

// A tree of 31 leaves, grown as LightGBM does: a leaf becomes a split with a new leaf.
DecisionTree random_tree(int features, std::mt19937& random) {
  DecisionTree tree;
  tree.splits.reserve(30);
  std::vector<int*> to_leaf = {nullptr};
  while (to_leaf.size() < 31) {
    const std::size_t leaf = random() % to_leaf.size();
    if (to_leaf[leaf] != nullptr) *to_leaf[leaf] = static_cast<int>(tree.splits.size());
    Split split;
    split.feature = static_cast<int>(random() % static_cast<unsigned>(features));
    split.threshold = 0.25 * static_cast<double>(random() % 16);
    split.left = ~static_cast<int>(leaf);
    split.right = ~static_cast<int>(to_leaf.size());
    tree.splits.push_back(split);
    to_leaf[leaf] = &tree.splits.back().left;
    to_leaf.push_back(&tree.splits.back().right);
  }
  for (std::size_t i = 0; i < to_leaf.size(); ++i) {
    tree.leaves.push_back(0.001 * static_cast<double>(random() % 1000));
  }
  return tree;
}

}  // namespace

std::function<void()> make_kernel(const std::string&) {
  constexpr std::size_t n = 20'000;
  const SiteFeatures features(3, 1);
  std::mt19937 random(13);
  std::vector<DecisionTree> trees;
  for (int i = 0; i < 80; ++i) trees.push_back(random_tree(features.count(), random));
  const BoostedTrees model(trees, features.count());
  return [features, model, sequences = related_sequences(4, n, 10)] {
    std::vector<const char*> species;
    for (const auto& bases : sequences) species.push_back(bases.data());
    std::vector<float> values(n * static_cast<std::size_t>(features.count()));
    const auto end = static_cast<std::int64_t>(n);
    features.compute({end, 0, end, 0, species.data(), SequenceForm::kCharacters}, values.data());
    std::vector<double> probabilities(n * kBases);
    model.probabilities({values.data(), n, n}, kernel_level(), probabilities.data());
  };
}

}  // namespace ancify::bench
