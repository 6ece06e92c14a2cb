// Plain scores of boosted trees: a walk from the root to a leaf, one row at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/ancestry/trained/lightgbm_model.h"
#include "core/genome/bases.h"

namespace ancify::test {

inline bool goes_left(const Split& split, double value) {
  if (std::isnan(value) && split.missing != MissingValues::kNan) value = 0;
  if (std::fabs(value) <= kZeroThreshold) value = 0;
  const bool missing = split.missing == MissingValues::kNan    ? std::isnan(value)
                       : split.missing == MissingValues::kZero ? value == 0
                                                               : false;
  return missing ? split.missing_left : value <= split.threshold;
}

// Feature f of row i is features[f * n + i].
inline std::vector<double> scores_slowly(const std::vector<DecisionTree>& trees,
                                         const std::vector<float>& features, std::size_t n) {
  std::vector<double> scores(n * kBases, 0);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t t = 0; t < trees.size(); ++t) {
      int at = trees[t].splits.empty() ? ~0 : 0;
      while (at >= 0) {
        const Split& split = trees[t].splits[static_cast<std::size_t>(at)];
        const float value = features[static_cast<std::size_t>(split.feature) * n + row];
        at = goes_left(split, static_cast<double>(value)) ? split.left : split.right;
      }
      scores[row * kBases + t % kBases] += trees[t].leaves[static_cast<std::size_t>(~at)];
    }
  }
  return scores;
}

}  // namespace ancify::test
