// Checks traces estimated by probes, and their first-order part, against dense algebra.
#include "core/reml/solvers/traces.h"

#include <cmath>
#include <random>

#include "core/reml/stochastic/probe_plan.h"
#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"

namespace ancify::reml {
namespace {

using test::DenseModel;
using test::RemlData;
using test::Vector;

struct Case {
  explicit Case(std::size_t family)
      : data(test::make_data(5, 90, 120, family, theta)), dense(data) {}

  // Numbers of probes z, with x = P z of dense algebra.
  ProbeValues values(int rank, const Vector& z) const {
    const test::PlainReml plain(data.y, data.x, data.kernels, theta);
    const Vector x = test::plain_product(plain.projection, z, 90);
    const Sketch sketch(dense.model, {theta[0], theta[1]}, rank, 1);
    return trace_values(sketch, RestrictedCovariance(dense.model, theta),
                        Preconditioner(sketch, theta), static_cast<int>(z.size() / 90), z.data(),
                        x.data());
  }

  Vector theta = {0.7, 0.3, 0.4};
  RemlData data;
  DenseModel dense;
};

TEST(TraceValues, OfOrthogonalProbesAreExact) {
  const Case c(4);
  const test::PlainReml plain(c.data.y, c.data.x, c.data.kernels, c.theta);
  for (const int rank : {0, 20}) {
    const Vector mean = c.values(rank, c.dense.fixed.orthogonal_probes()).mean();
    const Sketch sketch(c.dense.model, {c.theta[0], c.theta[1]}, rank, 1);
    const Vector known = Preconditioner(sketch, c.theta).traces();
    for (std::size_t i = 0; i < 3; ++i) {
      const double trace = i == 2 ? test::plain_trace(plain.projection, 90)
                                  : test::plain_dot(plain.projection, c.data.kernels[i]);
      EXPECT_NEAR(known[i] + mean[i], trace, 1e-5) << rank;
      EXPECT_NEAR(mean[3 + i], 0, 1e-5) << rank;
    }
  }
}

TEST(TraceValues, HaveLittleVarianceBeyondTheFirstOrder) {
  for (const std::size_t family : {1, 6}) {
    const Case c(family);
    Vector z(90 * 60);
    Probes(c.dense.fixed, 3).fill(c.dense.workers, 0, 60, z.data());
    const ProbeValues values = c.values(20, z);
    const double share = best_share(values, c.theta);
    EXPECT_GT(share, 0.2);
    EXPECT_LT(share, 1.2);
    const Vector before = less_first_order(values, 0).covariance_of_mean();
    const Vector after = less_first_order(values, share).covariance_of_mean();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(after[4 * i], before[4 * i] / 3) << family;
  }
}

TEST(BestShare, IsARegressionOfAllComponents) {
  // Two components: v_1, v_2, m_1, m_2 of each probe.
  const ProbeValues values(4, {2, 1, 1, 0, 0, 3, 0, 2, 1, -1, 2, 1});
  const auto left = [&](double share) {
    const Vector covariance = less_first_order(values, share).covariance_of_mean();
    return 4 * covariance[0] + 9 * covariance[3];
  };
  const double best = best_share(values, {2, 3});
  EXPECT_LT(left(best), left(best + 1e-3));
  EXPECT_LT(left(best), left(best - 1e-3));
  // Values without a first-order part do not change.
  EXPECT_EQ(best_share(ProbeValues(2, {1, 0, 2, 0}), {1}), 0);
  EXPECT_EQ(best_share(ProbeValues(2, {1, 3}), {1}), 0);
}

// The reported error is the error without the first-order part, even if few probes determine its
// share.
TEST(LessFirstOrder, CountsTheShareAsFitted) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  constexpr int kProbes = 5;
  constexpr int kRounds = 4000;
  double variance = 0;
  for (int round = 0; round < kRounds; ++round) {
    ProbeValues values(2);
    for (int probe = 0; probe < kProbes; ++probe) {
      const double first = 10 * normal(random);
      values.add({0.5 * first + normal(random), first});
    }
    const ProbeValues left = less_first_order(values, best_share(values, {1}));
    variance += kProbes * left.covariance_of_mean()[0] / kRounds;
  }
  EXPECT_NEAR(variance, 1, 0.06);
  // A share fits two probes without error.
  EXPECT_EQ(best_share(ProbeValues(2, {1, 1, 3, 2}), {1}), 0);
}

TEST(ChooseSketch, HasManyDirectionsAmongRelativesAlone) {
  StochasticSettings settings;
  for (const std::size_t family : {1, 10}) {
    const RemlData data = test::make_data(6, 300, 900, family, {0.5, 0.5});
    const DenseModel dense(data);
    EXPECT_EQ(choose_sketch(dense.model, {1}, settings).rank(), family == 1 ? 32 : 75);
    settings.rank = 50;
    EXPECT_EQ(choose_sketch(dense.model, {1}, settings).rank(), 50);
    settings.rank = 0;
    EXPECT_EQ(choose_sketch(dense.model, {1}, settings).rank(), 0);
    settings.rank = -1;
  }
}

}  // namespace
}  // namespace ancify::reml
