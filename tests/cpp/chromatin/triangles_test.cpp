// Triples that break the triangle inequality, against three nested loops over all pairs.
#include "core/chromatin/triangles.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/chromatin/map_pairs.h"
#include "plain_maps.h"

namespace ancify::chromatin {
namespace {

TEST(Triangles, AreThoseOfAPlainCount) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.1, 2);
  const std::int64_t n = 15;
  const std::int64_t cells = 40;
  std::vector<double> maps(static_cast<std::size_t>(pairs_of(n) * cells));
  for (double& distance : maps) {
    distance = random() % 10 == 0 ? std::numeric_limits<double>::quiet_NaN() : uniform(random);
  }
  std::vector<double> broken(static_cast<std::size_t>(cells));
  std::vector<double> triples(static_cast<std::size_t>(cells));
  JobControl control;
  count_triangles(n, cells, maps.data(), broken.data(), triples.data(), control, 2);
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::vector<double> map =
        square_map(n, &maps[static_cast<std::size_t>(cell * pairs_of(n))]);
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return map[static_cast<std::size_t>(i * n + j)];
    };
    int wrong = 0;
    int seen = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        for (std::int64_t k = 0; k < j; ++k) {
          const std::array<double, 3> sides = {at(i, j), at(i, k), at(j, k)};
          const double sum = sides[0] + sides[1] + sides[2];
          if (std::isnan(sum)) continue;
          ++seen;
          if (*std::max_element(sides.begin(), sides.end()) > sum / 2) ++wrong;
        }
      }
    }
    EXPECT_EQ(broken[static_cast<std::size_t>(cell)], wrong);
    EXPECT_EQ(triples[static_cast<std::size_t>(cell)], seen);
    EXPECT_GT(wrong, 0);
  }
}

TEST(Triangles, OfPointsHold) {
  // On a line, two distances make the third.
  std::vector<double> points(60, 0.0);
  for (std::size_t i = 0; i < 20; ++i) points[i] = 0.1 * static_cast<double>(i * i);
  double broken = -1;
  double triples = -1;
  JobControl control;
  count_triangles(20, 1, plain_map(points).data(), &broken, &triples, control, 1);
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(triples, 1140);
}

}  // namespace
}  // namespace ancify::chromatin
