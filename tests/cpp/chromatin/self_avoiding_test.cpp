// Self-avoiding chains keep their rules; without them they are freely jointed.
#include "core/chromatin/self_avoiding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/errors.h"
#include "plain_maps.h"

namespace ancify::chromatin {
namespace {

std::vector<double> chains(const SelfAvoidingModel& model, std::int64_t cells, int threads,
                           std::uint32_t seed = 1) {
  std::vector<double> out(static_cast<std::size_t>(3 * model.points * cells));
  JobControl control;
  self_avoiding_chains(model, seed, cells, out.data(), control, threads);
  return out;
}

TEST(SelfAvoiding, ChainsKeepTheirRules) {
  for (const std::int64_t moves : {0, 500}) {
    const SelfAvoidingModel model = {30, 0.9, 3.5, moves};
    const std::vector<double> all = chains(model, 20, 2);
    for (std::size_t cell = 0; cell < 20; ++cell) {
      const std::vector<double> chain(all.begin() + static_cast<std::ptrdiff_t>(cell * 90),
                                      all.begin() + static_cast<std::ptrdiff_t>(cell * 90 + 90));
      for (std::size_t j = 0; j < 30; ++j) {
        EXPECT_LE(std::hypot(chain[j], chain[30 + j], chain[60 + j]), 3.5 + 1e-9);
        for (std::size_t i = 0; i < j; ++i) {
          const double distance = plain_distance(chain, i, j);
          if (j - i == 1) {
            EXPECT_NEAR(distance, 1, 1e-9);
          } else {
            EXPECT_GE(distance, 0.9 - 1e-9);
          }
        }
      }
    }
  }
}

double mean_square_span(const std::vector<double>& all, std::size_t points) {
  const std::size_t cells = all.size() / points / 3;
  double sum = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::vector<double> chain(
        all.begin() + static_cast<std::ptrdiff_t>(cell * 3 * points),
        all.begin() + static_cast<std::ptrdiff_t>((cell + 1) * 3 * points));
    sum += std::pow(plain_distance(chain, 0, points - 1), 2);
  }
  return sum / static_cast<double>(cells);
}

// The mean squared end-to-end distance of a freely jointed chain is its number of bonds.
TEST(SelfAvoiding, WithoutBallsTheChainIsFreelyJointed) {
  const double span = mean_square_span(chains({10, 0, 100, 200}, 4000, 2), 10);
  EXPECT_NEAR(span / 9, 1, 0.05);
}

// Three bonds at angles that keep all balls of diameter 1 apart: by plain rejection.
TEST(SelfAvoiding, ChainsOfFourPointsAreThoseOfRejection) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  double sum = 0;
  int kept = 0;
  while (kept < 20000) {
    std::vector<double> chain(12, 0.0);
    for (std::size_t i = 1; i < 4; ++i) {
      const std::array<double, 3> step = {normal(random), normal(random), normal(random)};
      const double length = std::hypot(step[0], step[1], step[2]);
      for (std::size_t k = 0; k < 3; ++k)
        chain[k * 4 + i] = chain[k * 4 + i - 1] + step[k] / length;
    }
    if (plain_distance(chain, 0, 2) < 1 || plain_distance(chain, 1, 3) < 1 ||
        plain_distance(chain, 0, 3) < 1) {
      continue;
    }
    sum += std::pow(plain_distance(chain, 0, 3), 2);
    ++kept;
  }
  const double span = mean_square_span(chains({4, 1, 100, 60}, 20000, 2), 4);
  EXPECT_NEAR(span / (sum / kept), 1, 0.015);
}

TEST(SelfAvoiding, SeedsAndThreads) {
  const SelfAvoidingModel model = {20, 0.8, 4, 100};
  EXPECT_EQ(chains(model, 40, 1), chains(model, 40, 2));
  EXPECT_NE(chains(model, 40, 1), chains(model, 40, 1, 2));
}

TEST(SelfAvoiding, RefusesASphereThatIsTooSmall) {
  EXPECT_THROW(chains({64, 1, 2.5, 10}, 1, 1), InputError);
  EXPECT_NO_THROW(chains({64, 1, least_radius(64), 10}, 1, 1));
}

}  // namespace
}  // namespace ancify::chromatin
