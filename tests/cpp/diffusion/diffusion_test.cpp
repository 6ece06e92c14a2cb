// Checks sweeps at each SIMD level, schedules, and grids too large for the oracle of R's tests.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/diffusion/expected_spectra.h"
#include "core/diffusion/integration.h"
#include "core/diffusion/quadrature.h"
#include "core/diffusion/sampling.h"
#include "core/diffusion/transpose.h"
#include "demographic_models.h"
#include "gtest/gtest.h"
#include "support.h"

namespace ancify::diffusion {
namespace {

using test::constant_history;

// An epoch with migration from each population into the next; none goes into the first.
Epoch some_epoch(int populations, double time) {
  const auto n = static_cast<std::size_t>(populations);
  Epoch epoch;
  epoch.end = time;
  epoch.theta = constant_history(1);
  for (int k = 0; k < populations; ++k) {
    epoch.size.push_back(constant_history(1.0 + k));
    epoch.selection.push_back(constant_history(k == 1 ? -1.5 : 0));
    epoch.dominance.push_back(constant_history(0.3));
    epoch.frozen.push_back(0);
  }
  epoch.migration.assign(n * n, constant_history(0));
  for (std::size_t k = 1; k < n; ++k) epoch.migration[k * n + k - 1] = constant_history(0.7);
  return epoch;
}

Model some_model(int populations, double time) {
  Model model = {Equilibrium()};
  for (int k = 1; k < populations; ++k) {
    std::vector<double> shares(static_cast<std::size_t>(k));
    shares.back() = 1;
    model.push_back(Admixture{shares});
  }
  model.push_back(some_epoch(populations, time));
  return model;
}

std::vector<double> values(const Density& density) {
  return {density.data(), density.data() + density.size()};
}

TEST(Quadrature, IsExactForPolynomials) {
  for (const int n : {1, 2, 7, 24}) {
    const GaussRule rule(n);
    for (int power = 0; power < 2 * n; ++power) {
      const double found = rule.integrate([&](double x) { return std::pow(x, power); }, 0, 2);
      const double expected = std::pow(2, power + 1) / (power + 1);
      EXPECT_NEAR(found / expected, 1, 1e-12) << n << " " << power;
    }
  }
}

TEST(Transpose, RowsBecomeColumns) {
  for (const SimdLevel level : test::simd_levels()) {
    for (std::size_t rows = 1; rows < 14; ++rows) {
      for (std::size_t columns = 1; columns < 14; ++columns) {
        std::vector<double> from(rows * (columns + 3));
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i);
        std::vector<double> to(columns * (rows + 2), -1);
        transpose({from.data(), columns + 3}, {to.data(), rows + 2}, rows, columns, level);
        for (std::size_t column = 0; column < columns; ++column) {
          for (std::size_t row = 0; row < rows + 2; ++row) {
            const double expected = row < rows ? from[row * (columns + 3) + column] : -1;
            ASSERT_EQ(to[column * (rows + 2) + row], expected);
          }
        }
      }
    }
  }
}

TEST(Diffusion, LevelsGiveTheSameBytes) {
  if (best_simd_level() == SimdLevel::kScalar) GTEST_SKIP() << "this processor has one level";
  // With 37 points slices are swept one by one, with 9 and 10 points several together.
  for (const auto& [populations, points] : std::vector<std::pair<int, int>>{
           {1, 37}, {2, 37}, {2, 9}, {3, 37}, {3, 9}, {4, 10}, {5, 9}, {5, 10}}) {
    const Plan plan = plan_model(some_model(populations, 0.02), {1e-3, 1});
    const auto scalar = values(evolve(plan, points, SimdLevel::kScalar, TaskContext()));
    for (const SimdLevel level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      const auto found = values(evolve(plan, points, level, TaskContext()));
      for (std::size_t i = 0; i < scalar.size(); ++i) ASSERT_EQ(found[i], scalar[i]) << i;
    }
  }
}

TEST(Diffusion, StepsFollowSelectionUpToTheStrongest) {
  const auto steps = [](double selection, double strongest) {
    Epoch epoch = some_epoch(1, 0.1);
    epoch.selection = {[=](double) { return selection; }};
    epoch.dominance = {[](double) { return 0.5; }};
    return make_schedule(epoch, {1e-3, 1, strongest}).number_of_steps();
  };
  constexpr double any = std::numeric_limits<double>::infinity();
  EXPECT_GT(steps(-300, any), 9 * steps(-30, any));
  EXPECT_EQ(steps(-300, 30), steps(-30, any));
  EXPECT_EQ(steps(-20, 30), steps(-20, any));
}

// A step that looks ahead is no longer than the rule allows in its middle and at its end.
TEST(Diffusion, StepsLookAhead) {
  const auto lengths = [](const ParameterHistory& size, bool looks_ahead) {
    Epoch epoch = some_epoch(1, 0.2);
    epoch.size = {size};
    StepRule rule = {3e-3, 2};
    rule.looks_ahead = looks_ahead;
    std::vector<std::pair<double, double>> result;  // of whole steps: the beginning and the length
    double time = 0;
    for (const TimeStep& step : make_schedule(epoch, rule).steps) {
      for (std::int64_t i = 0; i < step.times; ++i) {
        result.emplace_back(time, step.length);
        time += step.length;
      }
    }
    EXPECT_NEAR(time, 0.2, 1e-12);
    return result;
  };
  const std::vector<ParameterHistory> histories = {
      [](double t) { return 100 * std::exp(-35 * t); },
      [](double t) { return t < 0.1 ? 50.0 : 0.05; },
      [](double t) { return std::exp(3 * std::sin(100 * t)); },
  };
  for (const ParameterHistory& size : histories) {
    const auto fine = lengths(size, true);
    EXPECT_GT(fine.size(), lengths(size, false).size());
    for (std::size_t i = 0; i < fine.size(); i += 2) {
      const auto [begin, half] = fine[i];
      for (const double t : {begin, begin + half, std::min(begin + 2 * half, 0.2)}) {
        EXPECT_LE(2 * half, 3e-3 * 4 * size(t) * (1 + 1e-9)) << t;
      }
    }
  }
  // Looking ahead changes nothing while sizes are constant or grow.
  for (const ParameterHistory& size :
       {constant_history(0.7), ParameterHistory([](double t) { return 1 + t; })}) {
    EXPECT_EQ(lengths(size, true), lengths(size, false));
  }
}

// The solution of a line does not depend on its neighbours.
TEST(Diffusion, PartsOfASweepAreTheSame) {
  const Plan plan = plan_model(some_model(3, 0.01), {1e-3, 1});
  const auto alone = values(evolve(plan, 70, best_simd_level(), TaskContext()));
  JobControl control;
  std::vector<double> shared;
  run_tasks(control, 8, 1, [&](std::int64_t, const TaskContext& context) {
    shared = values(evolve(plan, 70, best_simd_level(), context));
  });
  EXPECT_EQ(shared, alone);
}

// A population without immigration has the same spectrum alone and with others.
TEST(Diffusion, MarginalsAreThoseOfFewerPopulations) {
  const int n = 6;
  const int points = 60;
  const Plan one = plan_model(some_model(1, 0.05), {1e-3, 1});
  const Plan plan = plan_model(some_model(3, 0.05), {1e-3, 1});
  Sampling sampling;
  sampling.sizes = {n};
  JobControl control;
  const auto alone = expected_spectra({{&one, points}}, sampling, best_simd_level(), 1, control)[0];
  sampling.sizes = {n, 2, 2};
  const auto all = expected_spectra({{&plan, points}}, sampling, best_simd_level(), 1, control)[0];
  for (int d = 1; d < n; ++d) {
    double marginal = 0;
    for (std::size_t i = static_cast<std::size_t>(d); i < all.size(); i += n + 1)
      marginal += all[i];
    EXPECT_NEAR(marginal / alone[static_cast<std::size_t>(d)], 1, 0.02) << d;
  }
}

TEST(Diffusion, StepsThatAreAlikeAreKeptOnce) {
  Epoch epoch = some_epoch(2, 0.0303);
  const Schedule once = make_schedule(epoch, {1e-3, 2});
  EXPECT_EQ(once.steps.size(), 2);  // the last one is shorter
  Schedule all = once;
  all.steps.clear();
  for (TimeStep step : once.steps) {
    const auto times = static_cast<std::size_t>(std::exchange(step.times, 1));
    all.steps.insert(all.steps.end(), times, step);
  }
  EXPECT_EQ(all.number_of_steps(), once.number_of_steps());
  EXPECT_EQ(static_cast<std::int64_t>(all.steps.size()), once.number_of_steps());
  Density one(std::make_shared<Grid>(20), 2);
  Density other(std::make_shared<Grid>(20), 2);
  integrate(one, once, best_simd_level(), TaskContext());
  integrate(other, all, best_simd_level(), TaskContext());
  EXPECT_EQ(values(one), values(other));

  epoch.size[0] = [](double time) { return 1 + time; };
  const Schedule changing = make_schedule(epoch, {1e-3, 2});
  EXPECT_EQ(static_cast<std::int64_t>(changing.steps.size()), changing.number_of_steps());
}

TEST(Diffusion, WhatCanNotBeIsAnError) {
  EXPECT_THROW(Grid(3), InputError);
  EXPECT_THROW(plan_model({}, {1e-3, 1}), InputError);
  EXPECT_THROW(plan_model({Admixture{{1}}}, {1e-3, 1}), InputError);
  EXPECT_THROW(plan_model({Equilibrium(), Removal{0}}, {1e-3, 1}), InputError);
  EXPECT_THROW(plan_model({Equilibrium(), Admixture{{0.5}}}, {1e-3, 1}), InputError);
  EXPECT_THROW(plan_model({Equilibrium(), some_epoch(2, 1)}, {1e-3, 1}), InputError);
  EXPECT_THROW(plan_model(some_model(6, 1), {1e-3, 1}), InputError);
  Epoch tiny = some_epoch(1, 1);
  tiny.size[0] = constant_history(1e-9);
  EXPECT_THROW(plan_model({Equilibrium(), tiny}, {1e-3, 1}), InputError);
}

}  // namespace
}  // namespace ancify::diffusion
