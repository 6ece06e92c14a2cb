// Checks moments and jackknife against plain sums over pairs of samples.
#include "core/reml/stochastic/haseman_elston.h"

#include <cmath>

#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"
#include "support.h"

namespace ancify::reml {
namespace {

using test::RemlData;
using test::Vector;

HasemanElston found_in(const RemlData& data, const HasemanElstonSettings& settings,
                       int threads = 1) {
  JobControl control;
  MatrixKernels kernels(static_cast<std::int64_t>(data.samples()), test::DenseModel::pointers(data),
                        control);
  return haseman_elston(data.fit(), kernels, settings, {}, control, threads);
}

// Least squares of products of two samples' responses on the kernels, over pairs of samples of
// which neither is from `from` to `to`. S is the whole data's.
Vector plain_regression(const RemlData& data, std::size_t from, std::size_t to) {
  const std::size_t n = data.samples();
  const test::PlainReml plain(data.y, data.x, {Vector(n * n, 0)}, {0, 1});
  std::vector<Vector> kernels;
  for (const Vector& kernel : data.kernels) {
    kernels.push_back(
        test::plain_product(test::plain_product(plain.projection, kernel, n), plain.projection, n));
  }
  kernels.push_back(plain.projection);
  const std::size_t k = kernels.size();
  Vector matrix(k * k, 0);
  Vector right(k, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if ((a >= from && a < to) || (b >= from && b < to)) continue;
      for (std::size_t i = 0; i < k; ++i) {
        right[i] += plain.py[a] * plain.py[b] * kernels[i][b * n + a];
        for (std::size_t j = 0; j < k; ++j) {
          matrix[j * k + i] += kernels[i][b * n + a] * kernels[j][b * n + a];
        }
      }
    }
  }
  return test::plain_product(test::Inverse(matrix, k).values, right, k);
}

TEST(HasemanElston, IsTheRegressionOverPairs) {
  const RemlData data = test::make_data(21, 60, 90, 3, {0.5, 0.3, 0.4});
  HasemanElstonSettings settings;
  settings.blocks = 7;
  const HasemanElston found = found_in(data, settings);
  const Vector expected = plain_regression(data, 0, 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found.theta[i], expected[i], 1e-10);
  EXPECT_EQ(found.probes, 0);
  EXPECT_EQ(found.mc_covariance, Vector(9, 0));
}

TEST(HasemanElston, JackknifeLeavesOutBlocksOfSamples) {
  const RemlData data = test::make_data(22, 60, 90, 3, {0.5, 0.3, 0.4});
  HasemanElstonSettings settings;
  settings.blocks = 7;
  const HasemanElston found = found_in(data, settings);
  std::vector<Vector> without;
  Vector mean(3, 0);
  for (std::size_t b = 0; b < 7; ++b) {
    without.push_back(plain_regression(data, b * 60 / 7, (b + 1) * 60 / 7));
    for (std::size_t i = 0; i < 3; ++i) mean[i] += without.back()[i] / 7;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (const Vector& theta : without) sum += (theta[i] - mean[i]) * (theta[j] - mean[j]);
      EXPECT_NEAR(found.covariance[j * 3 + i], 6.0 / 7 * sum, 1e-8 * found.covariance[0]);
    }
  }
}

HasemanElstonSettings by_probes(int seed) {
  HasemanElstonSettings settings;
  settings.blocks = 20;
  settings.exact_samples = 0;
  settings.seed = static_cast<std::uint64_t>(seed);
  return settings;
}

TEST(HasemanElston, ByProbesHasTheErrorThatItSays) {
  const RemlData data = test::make_data(23, 200, 300, 4, {0.5, 0.5});
  HasemanElstonSettings exact = by_probes(1);
  exact.exact_samples = 200;
  const HasemanElston truth = found_in(data, exact);
  constexpr int kSeeds = 60;
  Vector squares(2, 0);
  Vector claimed(2, 0);
  Vector mean_se(2, 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const HasemanElston found = found_in(data, by_probes(seed));
    ASSERT_GE(found.probes, 32);
    for (std::size_t i = 0; i < 2; ++i) {
      squares[i] += std::pow(found.theta[i] - truth.theta[i], 2);
      claimed[i] += found.mc_covariance[i * 3];
      EXPECT_LE(found.mc_covariance[i * 3], std::pow(0.05, 2) * found.covariance[i * 3]);
      mean_se[i] += std::sqrt(found.covariance[i * 3] / truth.covariance[i * 3]) / kSeeds;
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(std::sqrt(squares[i] / claimed[i]), 1, 0.25) << i;
    EXPECT_NEAR(mean_se[i], 1, 0.06) << i;
  }
}

TEST(HasemanElston, HasEqualBytesAtAnyNumberOfThreads) {
  const RemlData data = test::make_data(24, 100, 90, 2, {0.5, 0.3, 0.4});
  for (const int exact : {0, 1000}) {
    HasemanElstonSettings settings = by_probes(1);
    settings.exact_samples = exact;
    const HasemanElston one = found_in(data, settings, 1);
    const HasemanElston eight = found_in(data, settings, 8);
    EXPECT_EQ(one.theta, eight.theta);
    EXPECT_EQ(one.covariance, eight.covariance);
  }
}

TEST(HasemanElston, HasEqualBytesFromPartsOfTheJackknife) {
  const RemlData data = test::make_data(24, 100, 90, 2, {0.5, 0.3, 0.4});
  for (const int exact : {0, 1000}) {
    HasemanElstonSettings settings = by_probes(1);
    settings.exact_samples = exact;
    settings.blocks = 23;
    JobControl control;
    MatrixKernels kernels(100, test::DenseModel::pointers(data), control);
    Vector moments;
    double passes = 0;
    // In any order.
    for (const int first : {20, 10, 0}) {
      const JackknifePart part =
          jackknife_moments(data.fit(), kernels, settings, first, control, 2);
      moments.insert(moments.begin(), part.moments.begin(), part.moments.end());
      passes += part.passes;
    }
    MatrixKernels own(100, test::DenseModel::pointers(data), control);
    const HasemanElston found = haseman_elston(data.fit(), own, settings, moments, control, 1);
    const HasemanElston whole = found_in(data, settings);
    EXPECT_EQ(found.theta, whole.theta);
    EXPECT_EQ(found.covariance, whole.covariance);
    EXPECT_EQ(found.mc_covariance, whole.mc_covariance);
    EXPECT_EQ(found.passes + passes, whole.passes);
    moments.pop_back();
    EXPECT_THROW(haseman_elston(data.fit(), own, settings, moments, control, 1), InputError);
  }
}

TEST(HasemanElston, StandardErrorsAreTheSpreadOfTheEstimates) {
  Vector sum(2, 0);
  Vector squares(2, 0);
  Vector claimed(2, 0);
  constexpr int kTimes = 120;
  for (int time = 0; time < kTimes; ++time) {
    const RemlData data =
        test::make_data(100 + static_cast<unsigned>(time), 150, 100, 3, {0.5, 0.5});
    HasemanElstonSettings settings;
    settings.blocks = 25;
    const HasemanElston found = found_in(data, settings);
    for (std::size_t i = 0; i < 2; ++i) {
      sum[i] += found.theta[i] / kTimes;
      squares[i] += found.theta[i] * found.theta[i] / kTimes;
      claimed[i] += found.covariance[i * 3] / kTimes;
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double sd = std::sqrt(squares[i] - sum[i] * sum[i]);
    EXPECT_NEAR(sum[i], 0.5, 4 * sd / std::sqrt(kTimes));
    EXPECT_GT(sd / std::sqrt(claimed[i]), 0.8);
    EXPECT_LT(sd / std::sqrt(claimed[i]), 1.2);
  }
}

TEST(HasemanElston, NamesAKernelThatDependsOnOthers) {
  RemlData data = test::make_data(25, 60, 90, 2, {0.5, 0.5});
  data.kernels.push_back(data.kernels[0]);
  EXPECT_EQ(ancify::test::message_of<InputError>([&] { found_in(data, {}); }),
            "component 2 cannot be told apart from the others; leave it out");
}

}  // namespace
}  // namespace ancify::reml
