// Reads the text form in which LightGBM saves a model (versions v3 and v4).
#pragma once

#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Which values of a feature count as missing at a split: none (NaN is taken for 0), NaN, or NaN
// and 0.
enum class MissingValues { kNone, kZero, kNan };

// What is closer to 0 than this counts as 0, as LightGBM has it.
constexpr double kZeroThreshold = 1e-35F;

// Values up to the threshold go left. A child is a split from 0 on, or below 0 the leaf ~child.
struct Split {
  int feature = 0;
  double threshold = 0;
  MissingValues missing = MissingValues::kNone;
  bool missing_left = false;  // where missing values go
  int left = 0;
  int right = 0;
};

// Begins with the first split, or is its only leaf.
struct DecisionTree {
  std::vector<Split> splits;
  std::vector<double> leaves;
};

// The trees of a model that tells the four bases apart by this many numerical features; tree i
// adds to the score of base i % 4. FormatError for every other model and for damaged text.
std::vector<DecisionTree> read_lightgbm_model(const std::string& path, int features,
                                              const TaskContext& context = TaskContext());

}  // namespace ancify
