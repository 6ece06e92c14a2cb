// Reads a model in LightGBM's text format (versions v3 and v4).
#pragma once

#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Values that count as missing at a split. kNone: none, and NaN counts as 0; kZero: NaN and 0;
// kNan: NaN.
enum class MissingValues { kNone, kZero, kNan };

// Values no farther from 0 than this count as 0, as in LightGBM.
constexpr double kZeroThreshold = 1e-35F;

// Values up to the threshold go left. A child of 0 or more is a split; a child c below 0 is the
// leaf ~c.
struct Split {
  int feature = 0;
  double threshold = 0;
  MissingValues missing = MissingValues::kNone;
  bool missing_left = false;  // missing values go left
  int left = 0;
  int right = 0;
};

// The first split is the root; a tree without splits is a single leaf.
struct DecisionTree {
  std::vector<Split> splits;
  std::vector<double> leaves;
};

// The trees of a model that classifies the four bases by `features` numerical features. Tree i adds
// to the score of base i % 4. FormatError for any other model and for damaged text.
std::vector<DecisionTree> read_lightgbm_model(const std::string& path, int features,
                                              const TaskContext& context = TaskContext());

}  // namespace ancify
