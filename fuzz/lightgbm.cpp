// Fuzzes LightGBM models: at each SIMD level, scores equal the scores of a walk from the root.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../tests/cpp/ancestry/slow_trees.h"
#include "core/ancestry/trained/boosted_trees.h"
#include "core/ancestry/trained/lightgbm_model.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

constexpr int kFeatures = 2;

// Values that are likely to reveal errors: special ones, and values at and next to the thresholds.
std::vector<float> values_for(const std::vector<DecisionTree>& trees) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t most = 200;
  std::vector<float> values = {0, -0.0F, 1e-35F, -1e-35F, 1e-34F, infinity, -infinity, NAN};
  for (const auto& tree : trees) {
    for (const auto& split : tree.splits) {
      if (values.size() >= most || std::fabs(split.threshold) > 1e38) continue;
      const auto at = static_cast<float>(split.threshold);
      for (const float value : {at, std::nextafter(at, infinity), std::nextafter(at, -infinity)}) {
        values.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  Choices choices(input);
  const std::string result = outcome([&] {
    const auto trees = read_lightgbm_model(path, kFeatures);
    std::vector<float> features = values_for(trees);
    const std::size_t n = features.size();
    features.resize(n * kFeatures);
    std::rotate_copy(features.begin(), features.begin() + static_cast<std::ptrdiff_t>(n / 2),
                     features.begin() + static_cast<std::ptrdiff_t>(n),
                     features.begin() + static_cast<std::ptrdiff_t>(n));
    const auto expected = test::scores_slowly(trees, features, n);
    const BoostedTrees boosted(trees, kFeatures);
    const std::size_t piece = 1 + choices.below(n);
    const SimdLevel simd = choices.simd();
    std::vector<double> scores(n * kBases);
    for (std::size_t start = 0; start < n; start += piece) {
      boosted.scores({&features[start], n, std::min(piece, n - start)}, simd,
                     &scores[start * kBases]);
    }
    // Scores must be equal to the last bit.
    require(std::memcmp(scores.data(), expected.data(), n * kBases * sizeof(double)) == 0,
            "the scores and the slow way");
    return "good";
  });
  require(result == "good" || result.find("format error: ") == 0, result);
}

}  // namespace ancify::fuzz
