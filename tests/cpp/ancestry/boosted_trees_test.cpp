// Checks boosted trees against a plain walk from the root.
#include "core/ancestry/trained/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "core/exec/errors.h"
#include "core/genome/bases.h"
#include "random_models.h"
#include "slow_trees.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::random_threshold;
using test::random_tree;
using test::scores_slowly;
using test::TempDir;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- A model as text ---------------------------------------------------------------------------

template <class Values>
std::string joined(const Values& values) {
  std::ostringstream text;
  text.precision(17);
  for (std::size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "" : " ") << values[i];
  return text.str();
}

std::string text_of(const DecisionTree& tree, std::size_t number) {
  std::vector<int> feature;
  std::vector<double> threshold;
  std::vector<int> decision;
  std::vector<int> left;
  std::vector<int> right;
  for (const auto& split : tree.splits) {
    feature.push_back(split.feature);
    threshold.push_back(split.threshold);
    decision.push_back((split.missing_left ? 2 : 0) + 4 * static_cast<int>(split.missing));
    left.push_back(split.left);
    right.push_back(split.right);
  }
  return "Tree=" + std::to_string(number) + "\nnum_leaves=" + std::to_string(tree.leaves.size()) +
         "\nnum_cat=0\nsplit_feature=" + joined(feature) + "\nthreshold=" + joined(threshold) +
         "\ndecision_type=" + joined(decision) + "\nleft_child=" + joined(left) +
         "\nright_child=" + joined(right) + "\nleaf_value=" + joined(tree.leaves) +
         "\nis_linear=0\nshrinkage=0.1\n\n\n";
}

std::string text_of(const std::vector<DecisionTree>& trees, int features) {
  std::string text =
      "tree\nversion=v4\nnum_class=4\nnum_tree_per_iteration=4\nlabel_index=0\nmax_feature_idx=" +
      std::to_string(features - 1) +
      "\nobjective=multiclass num_class:4\nfeature_names=a b\ntree_sizes=" +
      joined(std::vector<int>(trees.size(), 99)) + "\n\n";
  for (std::size_t i = 0; i < trees.size(); ++i) text += text_of(trees[i], i);
  return text + "end of trees\n\nfeature_importances:\na=3\n\nparameters:\n[boosting: gbdt]\n";
}

// The text with the first `from` replaced by `to`.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

DecisionTree stump(double threshold) {
  DecisionTree tree;
  tree.splits = {{1, threshold, MissingValues::kNone, true, -1, -2}};
  tree.leaves = {-0.5, threshold};
  return tree;
}

// ---- Random models -----------------------------------------------------------------------------

std::vector<float> random_features(std::size_t n, int features, std::mt19937& random) {
  std::vector<float> values(n * static_cast<std::size_t>(features));
  for (float& value : values) {
    const double drawn = random_threshold(random);
    value = std::fabs(drawn) > 1e38 ? 0.5F : static_cast<float>(drawn);
    if (random() % 10 == 0) value = std::numeric_limits<float>::quiet_NaN();
    if (random() % 50 == 0) value = random() % 2 == 0 ? INFINITY : -INFINITY;
  }
  return values;
}

// Of the first `rows` of n
std::vector<double> scores_of(const BoostedTrees& trees, const std::vector<float>& features,
                              std::size_t n, std::size_t rows, std::size_t piece, SimdLevel simd) {
  std::vector<double> scores(rows * kBases, kInfinity);
  for (std::size_t start = 0; start < rows; start += piece) {
    trees.scores({features.data() + start, n, std::min(piece, rows - start)}, simd,
                 &scores[start * kBases]);
  }
  return scores;
}

// ---- Tests -------------------------------------------------------------------------------------

TEST(BoostedTrees, EqualsDescentFromTheRoot) {
  std::mt19937 random(1);
  const TempDir dir;
  for (const std::size_t most_leaves : {1, 2, 31, 256, 257, 600}) {
    const int features = 5;
    std::vector<DecisionTree> trees;
    for (int t = 0; t < 12; ++t) {
      trees.push_back(random_tree(1 + random() % most_leaves, features, random));
    }
    trees.push_back(random_tree(most_leaves, features, random));
    while (trees.size() % kBases != 0) trees.push_back(random_tree(1, features, random));
    const std::string path = dir.write("model.txt", text_of(trees, features));
    const BoostedTrees model(read_lightgbm_model(path, features), features);
    const std::size_t n = 300;
    const auto values = random_features(n, features, random);
    const auto expected = scores_slowly(trees, values, n);
    for (const auto simd : test::simd_levels()) {
      for (const std::size_t piece : {std::size_t{1}, std::size_t{127}, n}) {
        const std::size_t rows = piece == 1 ? 20 : n;  // a single row costs as much as a block
        const std::vector<double> first(expected.begin(), expected.begin() + rows * kBases);
        EXPECT_EQ(scores_of(model, values, n, rows, piece, simd), first)
            << most_leaves << " leaves, pieces of " << piece << ", level "
            << static_cast<int>(simd);
      }
    }
  }
}

TEST(BoostedTrees, ProbabilitiesAreTheSoftmax) {
  const std::vector<DecisionTree> trees = {stump(1000), stump(999), stump(-3), stump(998)};
  const BoostedTrees model(trees, 2);
  const std::vector<float> values = {0, 2000};
  double out[kBases];
  model.probabilities({values.data(), 1, 1}, SimdLevel::kScalar, out);
  const double sum = 1 + std::exp(-1.0) + std::exp(-1003.0) + std::exp(-2.0);
  EXPECT_DOUBLE_EQ(out[0], 1 / sum);
  EXPECT_DOUBLE_EQ(out[1], std::exp(-1.0) / sum);
  EXPECT_EQ(out[2], 0);
  EXPECT_DOUBLE_EQ(out[3], std::exp(-2.0) / sum);
}

TEST(LightGbmModel, ReadsWhatIsThere) {
  const TempDir dir;
  std::mt19937 random(2);
  std::vector<DecisionTree> trees;
  for (const std::size_t leaves : {1, 2, 3, 40}) trees.push_back(random_tree(leaves, 7, random));
  const std::string text = text_of(trees, 7);
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const auto& variant :
       {text, crlf, test::gzip(text), changed(text, "version=v4", "version=v3"),
        text.substr(0, text.find("end of trees") + 12)}) {
    const auto read = read_lightgbm_model(dir.write("model.txt", variant), 7);
    ASSERT_EQ(read.size(), trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) {
      EXPECT_EQ(read[t].leaves, trees[t].leaves);
      EXPECT_EQ(text_of(read[t], t), text_of(trees[t], t));
    }
  }
}

TEST(LightGbmModel, RefusesOtherModelsAndDamage) {
  const std::string good = text_of({stump(1), stump(2), stump(3), stump(4)}, 2);
  struct Case {
    const char* from;
    const char* to;
    int line;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"tree\n", "trees\n", 1, "LightGBM's text form"},
      {"version=v4", "version=v2", 2, "'v2'"},
      {"num_class=4", "num_class=3", 3, "num_class is 3"},
      {"num_class=4", "num_class=many", 3, "'many'"},
      {"num_tree_per_iteration=4", "num_tree_per_iteration=1", 4, "num_tree_per_iteration is 1"},
      {"max_feature_idx=1", "max_feature_idx=2", 6, "3 features, but these outgroups have 2"},
      {"=multiclass num", "=multiclassova num", 7, "'multiclassova num_class:4'"},
      {"=multiclass num_class:4", "=binary sigmoid:1", 7, "'binary sigmoid:1'"},
      {"feature_names", "average_output\nfeature_names", 8, "random forests"},
      {"feature_names", "version=v4\nfeature_names", 8, "'version' occurs twice"},
      {"version=v4\n", "", 10, "no 'version'"},
      {"tree_sizes=99 99", "tree_sizes=99", 63, "4 trees, but its header says 3"},
      {"Tree=1", "Tree=2", 24, "tree 1 should begin here"},
      {"num_cat=0", "num_cat=1", 13, "by category"},
      {"num_leaves=2", "num_leaves=0", 12, "'0'"},
      {"num_leaves=2", "num_leaves=3", 19, "leaf_value has 2 values instead of 3"},
      {"num_leaves=2", "num_leaves=200000", 12, "'200000'"},
      {"num_leaves=2\n", "", 23, "no 'num_leaves'"},
      {"split_feature=1", "split_feature=2", 14, "split_feature has 2"},
      {"split_feature=1", "split_feature=-1", 14, "split_feature has -1"},
      {"split_feature=1", "split_feature=", 14, "split_feature has 0 values"},
      {"threshold=1\n", "threshold=1x\n", 15, "'1x'"},
      {"threshold=1\n", "threshold=nan\n", 15, "'nan'"},
      {"threshold=1\n", "threshold=1e999\n", 15, "'1e999'"},
      {"threshold=1\n", "threshold=1 2\n", 15, "2 values instead of 1"},
      {"decision_type=2", "decision_type=3", 16, "by category"},
      {"decision_type=2", "decision_type=12", 16, "decision_type has 12"},
      {"decision_type=2", "decision_type=2.5", 16, "'2.5'"},
      {"left_child=-1", "left_child=-3", 17, "left_child has -3"},
      {"left_child=-1", "left_child=1", 17, "left_child has 1"},
      {"left_child=-1", "left_child=0", 11, "do not form a tree"},
      {"right_child=-2", "right_child=-1", 11, "do not form a tree"},
      {"leaf_value=-0.5", "leaf_value=inf", 19, "'inf'"},
      {"leaf_value=-0.5", "leaf_value=-1e308", 19, "'-1e308'"},
      {"is_linear=0", "is_linear=1", 20, "linear trees"},
      {"end of trees", "", 69, "cut"},
  };
  const TempDir dir;
  const std::string path = dir.file("model.txt");
  EXPECT_EQ(read_lightgbm_model(dir.write("model.txt", good), 2).size(), 4U);
  for (const auto& [from, to, line, expected] : cases) {
    dir.write("model.txt", changed(good, from, to));
    const auto message = message_of<FormatError>([&] { (void)read_lightgbm_model(path, 2); });
    EXPECT_NE(message.find("'" + path + "', line " + std::to_string(line) + ": "), message.npos)
        << from << " -> " << to << ": " << message;
    EXPECT_NE(message.find(expected), message.npos) << from << " -> " << to << ": " << message;
  }
}

TEST(LightGbmModel, RefusesAFileCutAnywhere) {
  const TempDir dir;
  const std::string good = text_of({stump(1), stump(2), stump(3), stump(4)}, 2);
  const std::size_t end = good.find("end of trees") + 12;
  for (std::size_t n = 0; n < end; ++n) {
    const std::string path = dir.write("model.txt", good.substr(0, n));
    EXPECT_THROW((void)read_lightgbm_model(path, 2), FormatError) << n << " bytes";
  }
}

}  // namespace
}  // namespace ancify
