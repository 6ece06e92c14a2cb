// Saddlepoint tails beside the exact distribution of a score.
#include "core/reml/scans/saddlepoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using ancify::reml::BernoulliScore;

const std::vector<double> kWeights = {1.3, -0.4, 0.9, 1.7, -0.2, 0.6,  2.1,   -0.8,
                                      1.1, 0.3,  -1,  0.7, 1.9,  0.45, -0.35, 0.85};
const std::vector<double> kMeans = {0.1,  0.2, 0.05, 0.15, 0.3, 0.1, 0.08, 0.2,
                                    0.12, 0.4, 0.1,  0.25, 0.1, 0.2, 0.3,  0.15};

// P(S > s) for s > 0, and P(S < s) for s < 0, over all outcomes.
double exact_tail(double s) {
  double sum = 0;
  for (unsigned outcome = 0; outcome < (1U << kWeights.size()); ++outcome) {
    double probability = 1;
    double score = 0;
    for (std::size_t i = 0; i < kWeights.size(); ++i) {
      const bool is_case = (outcome >> i & 1U) != 0;
      probability *= is_case ? kMeans[i] : 1 - kMeans[i];
      score += kWeights[i] * ((is_case ? 1 : 0) - kMeans[i]);
    }
    if (s > 0 ? score > s : score < s) sum += probability;
  }
  return sum;
}

double tail(double root) { return std::erfc(std::abs(root) / std::sqrt(2)) / 2; }

TEST(Saddlepoint, NearsExactTails) {
  const BernoulliScore score(kWeights, kMeans, 0);
  for (const double s : {-2.5, -2.0, 2.0, 3.0, 4.0, 5.0}) {
    EXPECT_NEAR(std::log(tail(score.signed_root(s))), std::log(exact_tail(s)), 0.25) << s;
  }
}

TEST(Saddlepoint, IsNormalForANormalSum) {
  const BernoulliScore score({}, {}, 4);
  for (const double s : {-3.0, 0.5, 6.0}) EXPECT_NEAR(score.signed_root(s), s / 2, 1e-9);
}

TEST(Saddlepoint, IsNormalBeyondTheLargestSum) {
  const BernoulliScore score({1, 1}, {0.5, 0.5}, 0);
  EXPECT_DOUBLE_EQ(score.variance(), 0.5);
  EXPECT_DOUBLE_EQ(score.signed_root(1), std::sqrt(2));
  EXPECT_DOUBLE_EQ(score.signed_root(-2), -2 * std::sqrt(2));
}

TEST(Saddlepoint, IsFiniteForLargeWeightsAndRareCases) {
  const BernoulliScore score(std::vector<double>(1000, 50), std::vector<double>(1000, 1e-9), 1e-3);
  EXPECT_TRUE(std::isfinite(score.signed_root(500)));
  EXPECT_LT(score.signed_root(-1), 0);
}

}  // namespace
