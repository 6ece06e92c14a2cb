// Reads a model in LightGBM's text format, and checks that its trees can be evaluated.
#include "core/ancestry/trained/lightgbm_model.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/exec/errors.h"
#include "core/genome/bases.h"
#include "core/io/lines.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Bits of LightGBM's decision_type.
constexpr std::int64_t kCategoricalBit = 1;
constexpr std::int64_t kMissingLeftBit = 2;
constexpr int kMissingShift = 2;
constexpr std::int64_t kLargestDecision = 11;

// The longest line, in bytes. A line holds a number for each of 131,072 leaves, or a size for each
// tree.
constexpr std::size_t kLongestModelLine = std::size_t{1} << 22;

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  const auto size = parse_whole_number(text.substr(negative ? 1 : 0));
  return size && negative ? -*size : size;
}

class ModelReader {
 public:
  ModelReader(const std::string& path, int features, const TaskContext& context)
      : path_(path), features_(features), lines_(path, kLongestModelLine, context) {}

  std::vector<DecisionTree> read() {
    read_header();
    std::vector<DecisionTree> trees;
    std::size_t leaves = 0;
    while (line_ != "end of trees") {
      if (line_.compare(0, 5, "Tree=") != 0)
        fail("a tree should begin here, not " + excerpt(line_));
      if (integer(value_of(line_)) != static_cast<std::int64_t>(trees.size())) {
        fail("tree " + std::to_string(trees.size()) + " should begin here, not " + excerpt(line_));
      }
      trees.push_back(read_tree());
      leaves += trees.back().leaves.size();
      if (leaves > kMostLeavesOfAll || trees.size() > announced_) break;
    }
    if (leaves > kMostLeavesOfAll) {
      fail("the trees have more than " + std::to_string(kMostLeavesOfAll) +
           " leaves: train fewer or smaller ones");
    }
    if (trees.empty() || trees.size() % kBases != 0 || trees.size() != announced_) {
      fail("the model has " + std::to_string(trees.size()) + " trees, but its header says " +
           std::to_string(announced_) + ": " + kSaveAgain);
    }
    // The rest is not used, but only at the end of a file can the reader tell whether it has
    // changed.
    for (std::string_view rest; lines_.next(rest);) {
    }
    return trees;
  }

 private:
  // A value and its line.
  struct Field {
    std::string value;
    std::int64_t line = 0;
  };
  using Fields = std::map<std::string, Field, std::less<>>;
  static constexpr const char* kSaveAgain = "save it again with LightGBM";

  [[noreturn]] void fail(const std::string& problem) const { fail_at(lines_.number(), problem); }
  [[noreturn]] void fail_at(std::int64_t line, const std::string& problem) const {
    throw FormatError(path_, line, problem);
  }

  // Reads the next line that is not blank. FormatError at the end of the file: "end of trees" must
  // come before.
  void next_line() {
    std::string_view line;
    do {
      if (!lines_.next(line)) {
        fail(std::string("the file ends before \"end of trees\", so it was cut: ") + kSaveAgain);
      }
    } while (line.empty());
    line_ = line;
  }

  // Reads lines of key=value up to the next tree or "end of trees".
  Fields read_fields() {
    Fields fields;
    for (next_line(); line_.compare(0, 5, "Tree=") != 0 && line_ != "end of trees"; next_line()) {
      const std::string key = line_.substr(0, line_.find('='));
      if (fields.size() == kMostFields) {
        fail("this section has more than " + std::to_string(kMostFields) + " lines");
      }
      if (!fields.emplace(key, Field{std::string(value_of(line_)), lines_.number()}).second) {
        fail(excerpt(key) + " occurs twice in this section");
      }
    }
    return fields;
  }

  static std::string_view value_of(std::string_view line) {
    const std::size_t equals = line.find('=');
    return equals == line.npos ? std::string_view() : line.substr(equals + 1);
  }

  const Field& get(const Fields& fields, std::string_view key) const {
    const auto found = fields.find(key);
    if (found == fields.end()) {
      fail("the text before this line has no " + excerpt(key) + ": " + kSaveAgain);
    }
    return found->second;
  }

  std::int64_t integer(std::string_view text) const {
    return integer(Field{std::string(text), lines_.number()});
  }
  std::int64_t integer(const Field& field) const {
    const auto value = parse_integer(field.value);
    if (!value) fail_at(field.line, "not a whole number: " + excerpt(field.value));
    return *value;
  }

  void expect(const Fields& fields, std::string_view key, std::int64_t wanted,
              const std::string& otherwise) const {
    const Field& field = get(fields, key);
    if (integer(field) != wanted) {
      fail_at(field.line, std::string(key) + " is " + field.value + ": " + otherwise);
    }
  }

  // A list of n numbers. `parse` converts one.
  template <class Value, class Parse>
  std::vector<Value> list(const Fields& fields, std::string_view key, std::size_t n,
                          Parse&& parse) const {
    const Field& field = get(fields, key);
    std::vector<Value> values;
    std::string_view text = field.value;
    for (auto item = next_field(text); !item.empty(); item = next_field(text)) {
      const auto value = parse(item);
      if (!value) {
        fail_at(field.line, std::string(key) + " has " + excerpt(item) + ", which is not a number");
      }
      values.push_back(*value);
    }
    if (values.size() != n) {
      fail_at(field.line, std::string(key) + " has " + std::to_string(values.size()) +
                              " values instead of " + std::to_string(n) + ": " + kSaveAgain);
    }
    return values;
  }

  void read_header() {
    std::string_view first;
    if (!lines_.next(first) || first != "tree") {
      fail_at(1, "not a model in LightGBM's text form: it begins with " + excerpt(first));
    }
    const Fields fields = read_fields();
    const Field& version = get(fields, "version");
    if (version.value != "v3" && version.value != "v4") {
      fail_at(version.line, "models of version v3 and v4 can be read, not " +
                                excerpt(version.value) + ": save it with LightGBM 3 or 4");
    }
    const Field& objective = get(fields, "objective");
    std::string_view words = objective.value;
    if (next_field(words) != "multiclass") {
      fail_at(objective.line,
              "the objective is " + excerpt(objective.value) +
                  ", but it must be multiclass: train the model with this objective");
    }
    const std::string four = "the model must have 4 classes, for A, C, G and T";
    expect(fields, "num_class", kBases, four);
    expect(fields, "num_tree_per_iteration", kBases, four);
    const Field& last_feature = get(fields, "max_feature_idx");
    const std::int64_t n_features = integer(last_feature) + 1;
    if (n_features != features_) {
      fail_at(last_feature.line, "the model takes " + std::to_string(n_features) +
                                     " features, but these outgroups have " +
                                     std::to_string(features_) +
                                     ": train it with the same number of outgroups");
    }
    if (fields.count("average_output") > 0) {
      fail_at(fields.at("average_output").line,
              "random forests (average_output) cannot be read: train with boosting gbdt");
    }
    const Field& sizes = get(fields, "tree_sizes");
    std::string_view text = sizes.value;
    while (!next_field(text).empty()) ++announced_;
  }

  DecisionTree read_tree() {
    const std::int64_t first_line = lines_.number();
    const Fields fields = read_fields();
    expect(fields, "num_cat", 0, "splits by category cannot be read: train without them");
    if (fields.count("is_linear") > 0) {
      expect(fields, "is_linear", 0, "linear trees cannot be read: train without linear_tree");
    }
    const Field& field = get(fields, "num_leaves");
    const std::int64_t leaves = integer(field);
    if (leaves < 1 || leaves > kMostLeaves) {
      fail_at(field.line, "a tree must have 1 to " + std::to_string(kMostLeaves) + " leaves, not " +
                              excerpt(field.value));
    }
    DecisionTree tree;
    const auto n = static_cast<std::size_t>(leaves);
    const auto number = [this](std::string_view text) { return parse_number_(text); };
    tree.leaves = list<double>(fields, "leaf_value", n, [&](std::string_view text) {
      const auto value = number(text);
      return value && std::abs(*value) <= kLargestLeaf ? value : std::nullopt;
    });
    tree.splits.resize(n - 1);
    if (n == 1) return tree;

    const auto feature = list<std::int64_t>(fields, "split_feature", n - 1, parse_integer);
    // LightGBM writes inf if only missing values go right.
    const auto threshold = list<double>(fields, "threshold", n - 1, [&](std::string_view text) {
      const bool negative = text.substr(0, 1) == "-";
      if (text.substr(negative ? 1 : 0) != "inf") return number(text);
      constexpr double infinity = std::numeric_limits<double>::infinity();
      return std::optional<double>(negative ? -infinity : infinity);
    });
    const auto decision = list<std::int64_t>(fields, "decision_type", n - 1, parse_integer);
    const auto left = list<std::int64_t>(fields, "left_child", n - 1, parse_integer);
    const auto right = list<std::int64_t>(fields, "right_child", n - 1, parse_integer);
    const auto check = [&](std::string_view key, std::int64_t value, std::int64_t lowest,
                           std::int64_t highest) {
      if (value < lowest || value > highest) {
        fail_at(get(fields, key).line, std::string(key) + " has " + std::to_string(value) +
                                           ", which is not from " + std::to_string(lowest) +
                                           " to " + std::to_string(highest));
      }
      return static_cast<int>(value);
    };
    for (std::size_t i = 0; i < n - 1; ++i) {
      Split& split = tree.splits[i];
      split.feature = check("split_feature", feature[i], 0, features_ - 1);
      split.threshold = threshold[i];
      check("decision_type", decision[i], 0, kLargestDecision);
      if ((decision[i] & kCategoricalBit) != 0) {
        fail_at(get(fields, "decision_type").line,
                "splits by category cannot be read: train without them");
      }
      split.missing_left = (decision[i] & kMissingLeftBit) != 0;
      split.missing = static_cast<MissingValues>(decision[i] >> kMissingShift);
      split.left = check("left_child", left[i], -leaves, leaves - 2);
      split.right = check("right_child", right[i], -leaves, leaves - 2);
    }
    check_shape(tree, first_line);
    return tree;
  }

  // FormatError unless every leaf, and every split but the first, is the child of exactly one split
  // above it.
  void check_shape(const DecisionTree& tree, std::int64_t line) const {
    std::vector<int> open = {0};
    std::size_t reached = 0;
    while (!open.empty() && reached <= tree.splits.size() + tree.leaves.size()) {
      const int child = open.back();
      open.pop_back();
      ++reached;
      if (child < 0) continue;
      open.push_back(tree.splits[static_cast<std::size_t>(child)].left);
      open.push_back(tree.splits[static_cast<std::size_t>(child)].right);
    }
    std::vector<int> parents(tree.splits.size() + tree.leaves.size(), 0);
    const auto slot = [&](int child) {
      return child < 0 ? tree.splits.size() + static_cast<std::size_t>(~child)
                       : static_cast<std::size_t>(child);
    };
    bool once = true;
    for (const auto& split : tree.splits) {
      for (const int child : {split.left, split.right}) once = once && ++parents[slot(child)] == 1;
    }
    if (!once || parents[0] != 0 || reached != parents.size()) {
      fail_at(line, "left_child and right_child of this tree do not form a tree");
    }
  }

  // LightGBM's own limit
  static constexpr std::int64_t kMostLeaves = 131072;
  // So many leaves take a gigabyte of memory.
  static constexpr std::size_t kMostLeavesOfAll = std::size_t{1} << 24;
  static constexpr std::size_t kMostFields = 64;
  // The sum of all trees must be finite.
  static constexpr double kLargestLeaf = 1e100;

  const std::string& path_;
  int features_;
  LineReader lines_;
  std::string line_;  // the line read last, which may begin the next tree
  std::size_t announced_ = 0;
  mutable NumberParser parse_number_;
};

}  // namespace

std::vector<DecisionTree> read_lightgbm_model(const std::string& path, int features,
                                              const TaskContext& context) {
  return ModelReader(path, features, context).read();
}

}  // namespace ancify
