// Structures from maps: known distances are recovered, and steps never raise the stress.
#include "core/chromatin/structures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/chromatin/map_pairs.h"
#include "core/chromatin/measure.h"
#include "plain_maps.h"

namespace ancify::chromatin {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr StructureSettings kMany = {2000, 1e-9};

// The largest difference of distances among points that both have.
double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t j = 1; j < a.size() / 3; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const double error = std::abs(plain_distance(a, i, j) - plain_distance(b, i, j));
      if (!std::isnan(error)) most = std::max(most, error);
    }
  }
  return most;
}

std::vector<double> noisy(std::vector<double> map, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  for (double& distance : map) distance *= factor(random);
  return map;
}

TEST(Maps, AreThoseOfTheirDefinition) {
  JobControl control;
  std::vector<double> points = random_points(20, 1);
  std::vector<double> maps(static_cast<std::size_t>(pairs_of(20)));
  measure_maps(20, 1, points.data(), maps.data(), control, 1);
  const std::vector<double> plain = plain_map(points);
  for (std::size_t p = 0; p < plain.size(); ++p) EXPECT_DOUBLE_EQ(maps[p], plain[p]);
  const std::vector<double> square = square_map(20, maps.data());
  EXPECT_DOUBLE_EQ(square[3 * 20 + 7], plain_distance(points, 3, 7));
  EXPECT_DOUBLE_EQ(square[7 * 20 + 3], plain_distance(points, 3, 7));
  points[25] = kAbsent;
  measure_maps(20, 1, points.data(), maps.data(), control, 1);
  EXPECT_EQ(std::count_if(maps.begin(), maps.end(), [](double d) { return std::isnan(d); }), 19);
}

TEST(Structures, RecoverExactMaps) {
  for (const std::size_t n : {8U, 9U, 64U, 200U}) {
    const std::vector<double> points = random_points(n, static_cast<unsigned>(n));
    for (const StructureSettings& settings : {StructureSettings{0, 0}, kMany}) {
      const Structure fit =
          fit_structure(static_cast<std::int64_t>(n), plain_map(points).data(), settings);
      EXPECT_LT(largest_error(fit.coordinates, points), 1e-9);
    }
  }
}

TEST(Structures, OfPointsOnALineOrAtOnePlace) {
  std::vector<double> points(30, 0.0);
  Structure fit = fit_structure(10, plain_map(points).data(), kMany);
  EXPECT_LT(largest_error(fit.coordinates, points), 1e-12);
  for (std::size_t i = 0; i < 10; ++i) points[i] = static_cast<double>(i * i);
  fit = fit_structure(10, plain_map(points).data(), kMany);
  EXPECT_LT(largest_error(fit.coordinates, points), 1e-9);
}

TEST(Structures, RecoverMapsWithAbsentPointsAndPairs) {
  const std::vector<double> points = random_points(30, 3);
  std::vector<double> seen = points;
  for (const std::size_t absent : {0U, 7U, 8U, 29U}) seen[absent] = kAbsent;
  Structure fit = fit_structure(30, plain_map(seen).data(), kMany);
  EXPECT_LT(largest_error(fit.coordinates, points), 1e-9);
  for (const std::size_t absent : {0U, 7U, 8U, 29U}) {
    EXPECT_TRUE(std::isnan(fit.coordinates[absent]));
    EXPECT_TRUE(std::isnan(fit.coordinates[60 + absent]));
  }
  std::mt19937 random(1);
  std::vector<double> map = plain_map(seen);
  for (double& distance : map) {
    if (random() % 4 == 0) distance = kAbsent;
  }
  fit = fit_structure(30, map.data(), kMany);
  EXPECT_LT(largest_error(fit.coordinates, points), 1e-4);
}

TEST(Structures, KeepTheLargestGroupOfConnectedPoints) {
  const std::vector<double> points = random_points(12, 4);
  std::vector<double> map = plain_map(points);
  for (std::size_t j = 1; j < 12; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (i < 5 && j >= 5) map[j * (j - 1) / 2 + i] = kAbsent;
    }
  }
  const Structure fit = fit_structure(12, map.data(), kMany);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(std::isnan(fit.coordinates[i]), i < 5);
  EXPECT_LT(largest_error(fit.coordinates, points), 1e-9);
  const std::vector<double> nothing(66, kAbsent);
  for (const double value : fit_structure(12, nothing.data(), kMany).coordinates) {
    EXPECT_TRUE(std::isnan(value));
  }
  std::vector<double> one_pair = nothing;
  one_pair[0] = 2;
  EXPECT_DOUBLE_EQ(plain_distance(fit_structure(12, one_pair.data(), kMany).coordinates, 0, 1), 2);
}

TEST(Structures, StressNeverRises) {
  std::mt19937 random(2);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const std::vector<double> points = random_points(16, seed);
    std::vector<double> map = noisy(plain_map(points), seed);
    if (seed > 10) {
      for (double& distance : map) {
        if (random() % 3 == 0) distance = kAbsent;
      }
    }
    const Structure fit = fit_structure(16, map.data(), {300, 1e-10});
    ASSERT_GT(fit.stress.size(), 10U);
    for (std::size_t s = 1; s < fit.stress.size(); ++s) {
      EXPECT_LE(fit.stress[s], fit.stress[s - 1] * (1 + 1e-12));
    }
    // The last stress belongs to the coordinates.
    double stress = 0;
    std::size_t pair = 0;
    for (std::size_t j = 1; j < 16; ++j) {
      for (std::size_t i = 0; i < j; ++i, ++pair) {
        if (std::isnan(map[pair])) continue;
        stress += std::pow(map[pair] - plain_distance(fit.coordinates, i, j), 2);
      }
    }
    EXPECT_NEAR(stress, fit.stress.back(), 1e-9);
  }
}

// The same step, by full matrices with rows of zeros and ones.
TEST(Structures, TakePlainSteps) {
  const std::size_t n = 10;
  const std::vector<double> map = noisy(plain_map(random_points(n, 5)), 5);
  const std::vector<double> square = square_map(10, map.data());
  std::vector<double> x = fit_structure(10, map.data(), {0, 0}).coordinates;
  std::vector<double> next(3 * n, 0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        const double b = square[i * n + j] / plain_distance(x, i, j);
        next[k * n + i] += b * (x[k * n + i] - x[k * n + j]) / static_cast<double>(n);
      }
    }
  }
  EXPECT_LT(largest_error(fit_structure(10, map.data(), {1, 0}).coordinates, next), 1e-9);
}

TEST(Structures, AreTheSameForMirrorImagesRotationsAndReversedChains) {
  const std::size_t n = 24;
  const std::vector<double> points = random_points(n, 6);
  const std::vector<double> fit = fit_structure(24, plain_map(points).data(), kMany).coordinates;
  std::vector<double> reversed(3 * n);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < n; ++i) reversed[k * n + i] = points[k * n + n - 1 - i];
  }
  const std::vector<double> other =
      fit_structure(24, plain_map(reversed).data(), kMany).coordinates;
  for (std::size_t k = 0; k < 3; ++k) {
    double cubes = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(fit[k * n + i], other[k * n + n - 1 - i], 1e-8);
      cubes += std::pow(fit[k * n + i], 3);
    }
    EXPECT_GT(cubes, 0);
  }
}

TEST(Structures, AreTheSameOnTwoThreadsAndInAnyOrder) {
  const std::int64_t cells = 50;
  std::vector<double> maps;
  for (unsigned c = 0; c < cells; ++c) {
    const std::vector<double> map = noisy(plain_map(random_points(12, c)), c);
    maps.insert(maps.end(), map.begin(), map.end());
  }
  const auto run = [&](int threads) {
    JobControl control;
    std::vector<double> out(static_cast<std::size_t>(36 * cells));
    std::vector<double> stress(static_cast<std::size_t>(cells));
    std::vector<int> steps(static_cast<std::size_t>(cells));
    fit_structures(12, cells, maps.data(), {50, 1e-6}, out.data(), stress.data(), steps.data(),
                   control, threads);
    out.insert(out.end(), stress.begin(), stress.end());
    out.insert(out.end(), steps.begin(), steps.end());
    return out;
  };
  const std::vector<double> one = run(1);
  EXPECT_EQ(one, run(2));
  const std::vector<double> alone =
      fit_structure(12, &maps[static_cast<std::size_t>(17 * pairs_of(12))], {50, 1e-6}).coordinates;
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), one.begin() + 17 * 36));
}

}  // namespace
}  // namespace ancify::chromatin
