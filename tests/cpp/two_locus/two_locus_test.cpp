// Checks two-locus statistics against the plain equations of Hill and Robertson, against known
// values, and against each other.
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/diffusion/schedule.h"
#include "core/exec/errors.h"
#include "core/two_locus/statistics.h"
#include "diffusion/demographic_models.h"
#include "gtest/gtest.h"

namespace ancify::two_locus {
namespace {

using diffusion::Epoch;
using diffusion::Equilibrium;
using diffusion::Model;
using test::constant_history;
using test::every_neutral_event;
using test::neutral;

diffusion::Plan planned(const Model& model, int steps) {
  return diffusion::plan_model(
      model, [=](const Epoch& epoch) { return diffusion::middle_steps(neutral(epoch), steps); });
}

Statistics statistics_of(const Model& model, const std::vector<double>& rates, int steps = 1,
                         SimdLevel level = SimdLevel::kScalar, int threads = 1) {
  JobControl control;
  return expected_statistics({planned(model, steps)}, rates, level, threads, control)[0];
}

Epoch constant_epoch(double time, const std::vector<double>& sizes) {
  Epoch epoch = neutral(test::changing_epoch(static_cast<int>(sizes.size()), time));
  epoch.theta = constant_history(1);
  for (std::size_t k = 0; k < sizes.size(); ++k) epoch.size[k] = constant_history(sizes[k]);
  return epoch;
}

// Ohta and Kimura (1971): E[D^2] / E[pi2] = (5 + rho / 2) / (11 + 13 rho / 2 + rho^2 / 2).
TEST(TwoLocus, EquilibriumIsThatOfOhtaAndKimura) {
  const std::vector<double> rates = {0, 0.1, 1, 3, 30, 300, 1e4};
  const Statistics found = statistics_of({Equilibrium{2, 3, 0, 0.5}}, rates);
  EXPECT_DOUBLE_EQ(found.heterozygosity[0], 6);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rho = 2 * 2 * rates[i];
    const double expected = (5 + rho / 2) / (11 + 13 * rho / 2 + rho * rho / 2);
    EXPECT_NEAR(found.two_loci[3 * i] / found.two_loci[3 * i + 2], expected, 1e-9 * expected);
  }
}

TEST(TwoLocus, AnEquilibriumStays) {
  const std::vector<double> rates = {0, 0.5, 20, 1000};
  const Statistics before = statistics_of({Equilibrium{1.3, 1, 0, 0.5}}, rates);
  const Statistics after =
      statistics_of({Equilibrium{1.3, 1, 0, 0.5}, constant_epoch(3, {1.3})}, rates);
  for (std::size_t i = 0; i < before.two_loci.size(); ++i) {
    EXPECT_NEAR(after.two_loci[i], before.two_loci[i], 1e-9 * std::abs(before.two_loci[i]));
  }
}

// Steps of Euler's method through the equations of Hill and Robertson (1968) for one population,
// halved and extrapolated.
std::vector<double> plain_statistics(double size, double time, double rate, int steps) {
  const double q = rate;
  const double three =
      2 * (1 / (1 + 2 * q) + q / 6 + 1) / (3 + q - 2 * q / (1 + 2 * q) - 2 * q / 3);
  const double two = (2 * q * three + 2) / (1 + 2 * q);
  const double four = (4 * three + 2) / 6;
  double dd = (two - 2 * three + four) / 4;
  double dz = three - four;
  double pi2 = four / 4;
  double h = 1;
  for (int i = 0; i < steps; ++i) {
    const double step = time / steps;
    const double more_dd = (-3 * dd + dz + pi2) / size - 2 * rate * dd;
    const double more_dz = (4 * dd - 5 * dz) / size - rate * dz;
    const double more_pi2 = (dz - 2 * pi2) / size + h / 2;
    const double more_h = 1 - h / size;
    dd += step * more_dd;
    dz += step * more_dz;
    pi2 += step * more_pi2;
    h += step * more_h;
  }
  return {dd, dz, pi2};
}

TEST(TwoLocus, FollowsHillAndRobertson) {
  for (const double rate : {0.0, 0.7, 12.0}) {
    const Statistics found = statistics_of({Equilibrium{}, constant_epoch(0.3, {0.4})}, {rate});
    const auto whole = plain_statistics(0.4, 0.3, rate, 20000);
    const auto half = plain_statistics(0.4, 0.3, rate, 40000);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(found.two_loci[i], 2 * half[i] - whole[i], 1e-7) << rate << " " << i;
    }
  }
}

TEST(TwoLocus, IsTheSameAtAllLevelsAndThreads) {
  const std::vector<double> rates = {0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50};
  for (const int most : {1, 2, 3, 5}) {
    const Statistics one = statistics_of(every_neutral_event(most), rates, 4);
    for (const SimdLevel level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (best_simd_level() < level) continue;
      const Statistics other = statistics_of(every_neutral_event(most), rates, 4, level, 3);
      EXPECT_EQ(one.two_loci, other.two_loci) << most;
      EXPECT_EQ(one.heterozygosity, other.heterozygosity) << most;
    }
  }
}

TEST(TwoLocus, PopulationsMayHaveAnyOrder) {
  Model model = {Equilibrium{}, diffusion::Admixture{{1}}, constant_epoch(0.2, {0.5, 2})};
  const Statistics found = statistics_of(model, {1.5});
  model.emplace_back(diffusion::Reordering{{1, 0}});
  const Statistics reordered = statistics_of(model, {1.5});
  const std::vector<std::size_t> dd = {2, 1, 0};
  const std::vector<std::size_t> dz = {5, 4, 3, 2, 1, 0};
  const std::vector<std::size_t> pi2 = {5, 4, 2, 3, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(reordered.two_loci[i], found.two_loci[dd[i]]);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_DOUBLE_EQ(reordered.two_loci[3 + i], found.two_loci[3 + dz[i]]);
    EXPECT_DOUBLE_EQ(reordered.two_loci[9 + i], found.two_loci[9 + pi2[i]]);
  }
}

// The halves of a population that has just split are identical.
TEST(TwoLocus, ASplitCopiesThePopulation) {
  const Statistics one = statistics_of({Equilibrium{}}, {2});
  const Statistics two = statistics_of({Equilibrium{}, diffusion::Admixture{{1}}}, {2});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(two.two_loci[i], one.two_loci[0]);
  for (std::size_t i = 3; i < 9; ++i) EXPECT_DOUBLE_EQ(two.two_loci[i], one.two_loci[1]);
  for (std::size_t i = 9; i < 15; ++i) EXPECT_DOUBLE_EQ(two.two_loci[i], one.two_loci[2]);
}

TEST(TwoLocus, ExtrapolatesToStepsOfLengthZero) {
  Epoch growing = constant_epoch(0.2, {1});
  growing.size[0] = [](double t) { return std::exp(12 * t); };
  Extrapolation extrapolation;
  for (int steps = 4; steps <= 128; steps *= 2) {
    extrapolation.add(statistics_of({Equilibrium{}, growing}, {0, 1, 30}, steps));
  }
  EXPECT_LT(extrapolation.error(), 1e-6);
  const Statistics many = statistics_of({Equilibrium{}, growing}, {0, 1, 30}, 4000);
  for (std::size_t i = 0; i < many.two_loci.size(); ++i) {
    EXPECT_NEAR(extrapolation.best().two_loci[i], many.two_loci[i],
                1e-6 * std::abs(many.two_loci[i]));
  }
}

TEST(TwoLocus, FrozenPopulationsDoNotChange) {
  const Model start = {Equilibrium{}, diffusion::Admixture{{1}}};
  Epoch epoch = constant_epoch(0.5, {1, 1});
  for (auto& history : epoch.migration) history = constant_history(0);
  epoch.frozen = {1, 0};
  Model model = start;
  model.emplace_back(epoch);
  const Statistics before = statistics_of(start, {2});
  const Statistics after = statistics_of(model, {2});
  EXPECT_NEAR(after.two_loci[0], before.two_loci[0], 1e-14);
  EXPECT_NEAR(after.heterozygosity[0], before.heterozygosity[0], 1e-14);
  EXPECT_LT(after.two_loci[1], before.two_loci[1]);
}

TEST(TwoLocus, RefusesSelectionAndEndlessTimes) {
  EXPECT_THROW(statistics_of({Equilibrium{1, 1, -0.5, 0.5}}, {1}), InputError);
  JobControl control;
  const auto plan =
      diffusion::plan_model({Equilibrium{}, test::changing_epoch(1, 0.1)},
                            [](const Epoch& epoch) { return diffusion::middle_steps(epoch, 2); });
  EXPECT_THROW(expected_statistics({plan}, {1}, SimdLevel::kScalar, 1, control), InputError);
  EXPECT_THROW(statistics_of({Equilibrium{}, constant_epoch(1e9, {1})}, {1e6}), InputError);
}

}  // namespace
}  // namespace ancify::two_locus
