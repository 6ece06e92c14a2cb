// Checks the basis against quadrature, the series against Taylor's, and spectra against grids and
// closed forms. Exact chains of the structured coalescent are in R's tests.
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/diffusion/expected_spectra.h"
#include "core/diffusion/quadrature.h"
#include "core/exec/errors.h"
#include "core/moments/exponential.h"
#include "core/moments/lineage_plan.h"
#include "core/moments/moment_spectra.h"
#include "diffusion/demographic_models.h"
#include "gtest/gtest.h"

namespace ancify::moments {
namespace {

using diffusion::Admixture;
using diffusion::Epoch;
using diffusion::Equilibrium;
using diffusion::Model;
using diffusion::Plan;
using test::constant_history;
using test::every_neutral_event;
using test::neutral;

Plan planned(const Model& model, int parts) {
  return diffusion::plan_model(
      model, [=](const Epoch& epoch) { return diffusion::averaged_steps(neutral(epoch), parts); });
}

// The moments of a point mass at x.
std::vector<double> moments_at(const DegreeSet& set, const std::vector<double>& x) {
  const auto integral = [](int k, double to) {
    if (k == 0) return 1.0;
    const diffusion::GaussRule rule(k + 1);
    return rule.integrate(
        [=](double at) {
          double before = 0;
          double value = 1;
          for (int j = 1; j < k; ++j) {
            const double next = ((2 * j - 1) * (2 * at - 1) * value - (j - 1) * before) / j;
            before = value;
            value = next;
          }
          return value;
        },
        0, to);
  };
  std::vector<double> moments(set.size());
  set.for_each([&](std::size_t at, const std::vector<int>& degrees) {
    moments[at] = 1;
    for (std::size_t i = 0; i < x.size(); ++i) moments[at] *= integral(degrees[i], x[i]);
  });
  return moments;
}

int sum_of(const std::vector<int>& degrees) {
  int sum = 0;
  for (const int degree : degrees) sum += degree;
  return sum;
}

TEST(DegreeSet, HasAllDegreesOfItsGroups) {
  const DegreeSet set({{0, 1, 0}, {3, 2}});
  EXPECT_EQ(static_cast<double>(set.size()), number_of_degrees(set.bounds()));
  EXPECT_EQ(set.size(), 30u);
  std::size_t expected = 0;
  set.for_each([&](std::size_t at, const std::vector<int>& degrees) {
    EXPECT_EQ(at, expected++);
    EXPECT_EQ(set.position(degrees), at);
    EXPECT_LE(degrees[0] + degrees[2], 3);
    EXPECT_LE(degrees[1], 2);
  });
  EXPECT_EQ(expected, set.size());
  EXPECT_THROW(DegreeSet({{0, 0, 0, 0, 0}, {2000}}), InputError);
}

TEST(Basis, MultiplicationByAFrequencyIsExact) {
  const DegreeSet set({{0, 0, 0}, {6}});
  const std::vector<double> x = {0.2, 0.7, 0.45};
  const std::vector<double> moments = moments_at(set, x);
  for (int i = 0; i < 3; ++i) {
    std::vector<double> product(set.size());
    add_times_frequency(set, i, integral_recurrence(6), 2, moments.data(), product.data());
    set.for_each([&](std::size_t at, const std::vector<int>& degrees) {
      if (sum_of(degrees) == 6) return;
      EXPECT_NEAR(product[at], 2 * x[static_cast<std::size_t>(i)] * moments[at], 1e-15);
    });
  }
}

TEST(Basis, FactorsGiveBinomialProbabilities) {
  for (const int n : {1, 2, 7, 40, 150}) {
    const DegreeSet set({{0}, {n}});
    const std::vector<double> factors = sample_factors(n);
    for (const double x : {0.0, 0.01, 0.3, 0.95, 1.0}) {
      const std::vector<double> moments = moments_at(set, {x});
      for (int d = 0; d <= n; ++d) {
        double found = 0;
        for (std::size_t k = 0; k < moments.size(); ++k) {
          found += factors[static_cast<std::size_t>(d) * moments.size() + k] * moments[k];
        }
        const double choose =
            std::exp(std::lgamma(n + 1) - std::lgamma(d + 1) - std::lgamma(n - d + 1));
        EXPECT_NEAR(found, choose * std::pow(x, d) * std::pow(1 - x, n - d), 1e-11)
            << n << " " << d;
      }
    }
  }
}

// <L f> at a point x by differences, for the generator's L.
TEST(Generator, IsThatOfDriftAndMigration) {
  const DegreeSet set({{0, 0, 0}, {5}});
  diffusion::Schedule schedule = {3, {0, 0, 0}, {0, 0, 0}, {}};
  diffusion::TimeStep step = {};
  const std::vector<double> x = {0.3, 0.6, 0.15};
  for (int i = 0; i < 3; ++i) {
    step.size[i] = 0.5 + i;
    for (int j = 0; j < 3; ++j) step.migration[i][j] = i == j ? 0 : 1 + i + 0.3 * j;
  }
  Generator generator(set, schedule, step);
  std::vector<double> moments = moments_at(set, x);
  std::vector<double> changes(set.size());
  // The generator takes 0 for the moment of 1, whose coefficient is 0.
  moments[0] = 0;
  generator.apply(moments.data(), changes.data());
  const double h = 1e-4;
  std::vector<double> expected(set.size());
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> up = x;
    std::vector<double> down = x;
    up[i] += h;
    down[i] -= h;
    const auto above = moments_at(set, up);
    const auto at = moments_at(set, x);
    const auto below = moments_at(set, down);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expected[k] +=
          x[i] * (1 - x[i]) / (2 * step.size[i]) * (above[k] - 2 * at[k] + below[k]) / (h * h);
      for (std::size_t j = 0; j < 3; ++j) {
        expected[k] += step.migration[i][j] * (x[j] - x[i]) * (above[k] - below[k]) / (2 * h);
      }
    }
  }
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(changes[k], expected[k], 2e-6);
}

TEST(Exponential, ALongTimeIsManyShortOnes) {
  const DegreeSet set({{0, 0, 0}, {9}});
  diffusion::Schedule schedule = {3, {0, 0, 0}, {1, 1, 1}, {}};
  diffusion::TimeStep step = {};
  step.theta = 1;
  for (int i = 0; i < 3; ++i) {
    step.size[i] = 0.5 + i;
    step.migration[i][(i + 1) % 3] = 30;  // lineages circle
  }
  Generator generator(set, schedule, step);
  std::vector<double> at_once(set.size());
  advance(generator, 0.4, at_once, TaskContext());
  // Taylor's series of fourth order, in short steps
  std::vector<double> c(set.size());
  std::vector<double> changes(set.size());
  const int steps = 20000;
  const double dt = 0.4 / steps;
  for (int i = 0; i < steps; ++i) {
    const std::vector<double> start = c;
    for (const double share : {0.25, 1.0 / 3, 0.5, 1.0}) {
      generator.apply(c.data(), changes.data());
      for (std::size_t k = 0; k < c.size(); ++k) c[k] = start[k] + share * dt * changes[k];
    }
  }
  for (std::size_t k = 0; k < c.size(); ++k) EXPECT_NEAR(at_once[k], c[k], 1e-10);
}

TEST(LineagePlan, GroupsJoinWhereLineagesMove) {
  Epoch apart = neutral(test::changing_epoch(2, 0.1));
  apart.migration.assign(4, constant_history(0));
  const Plan plan = planned({Equilibrium(), Admixture{{1}}, apart}, 2);
  const auto bounds = bounds_of(plan, {4, 6});
  EXPECT_EQ(bounds[2].lineages, (std::vector<int>{4, 6}));
  EXPECT_EQ(bounds[1].lineages, (std::vector<int>{10}));
  const auto joined =
      bounds_of(planned({Equilibrium(), Admixture{{1}}, test::changing_epoch(2, 0.1)}, 2), {4, 6});
  EXPECT_EQ(joined[2].lineages, (std::vector<int>{10}));
  EXPECT_EQ(joined[3].lineages, (std::vector<int>{4, 6}));
}

TEST(MomentSpectra, AgreeWithGridsForEveryEvent) {
  for (const int most : {1, 2, 3}) {
    const std::vector<int> sizes = most == 1 ? std::vector<int>{6} : std::vector<int>{4, 3};
    const Plan plan = planned(every_neutral_event(most), 8);
    const std::vector<double> found = moment_spectrum(plan, sizes, TaskContext());
    Model model;
    for (const auto& event : every_neutral_event(most)) model.push_back(event);
    const diffusion::Scheduler fine = [](const Epoch& epoch) {
      return diffusion::make_schedule(neutral(epoch), {5e-4, 1});
    };
    const Plan steps = diffusion::plan_model(model, fine);
    diffusion::Sampling sampling;
    sampling.sizes = sizes;
    JobControl control;
    const auto grid = diffusion::expected_spectra({{&steps, most == 3 ? 70 : 160}}, sampling,
                                                  SimdLevel::kScalar, 1, control)[0];
    for (std::size_t k = 1; k + 1 < found.size(); ++k) {
      EXPECT_NEAR(found[k] / grid[k], 1, most == 3 ? 0.05 : 0.02) << most << " " << k;
    }
  }
}

TEST(MomentSpectra, ThreadsDoNotChangeThem) {
  const std::vector<Plan> plans = {planned(every_neutral_event(2), 3),
                                   planned(every_neutral_event(3), 3)};
  JobControl control;
  const auto one = moment_spectra(plans, {5, 4}, 1, control);
  EXPECT_EQ(moment_spectra(plans, {5, 4}, 3, control), one);
  EXPECT_GT(cost_of(plans[1], {5, 4}).work, cost_of(plans[0], {5, 4}).work);
}

TEST(MomentSpectra, SelectionIsRefused) {
  const Plan plan = planned({Equilibrium{1, 1, -1, 0.5}}, 1);
  EXPECT_THROW(moment_spectrum(plan, {4}, TaskContext()), InputError);
  EXPECT_THROW(cost_of(plan, {4}), InputError);
}

}  // namespace
}  // namespace ancify::moments
