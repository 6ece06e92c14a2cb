// The exact test of Hardy-Weinberg equilibrium against sums over all numbers of heterozygotes.
#include "core/genotypes/hardy_weinberg.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ancify {
namespace {

double log_factorial(std::int64_t n) { return std::lgamma(static_cast<double>(n) + 1); }

double slow_p(std::int64_t het, std::int64_t one, std::int64_t other) {
  const std::int64_t n = het + one + other;
  const std::int64_t copies = 2 * std::min(one, other) + het;
  const auto log_weight = [&](std::int64_t h) {
    const std::int64_t rare = (copies - h) / 2;
    return static_cast<double>(h) * std::log(2) - log_factorial(h) - log_factorial(rare) -
           log_factorial(n - h - rare);
  };
  const double start = log_weight(het);
  double all = 0;
  double tail = 0;
  for (std::int64_t h = copies % 2; h <= copies; h += 2) {
    if (n - h - (copies - h) / 2 < 0) continue;
    const double weight = std::exp(log_weight(h) - start);
    all += weight;
    if (weight <= 1 + 1e-7) tail += weight;
  }
  return std::min(1.0, tail / all);
}

TEST(HardyWeinberg, IsTheSumOverNumbersOfHeterozygotes) {
  for (std::int64_t one = 0; one < 25; ++one) {
    for (std::int64_t other = 0; other < 25; other += 3) {
      for (std::int64_t het = 0; het < 40; ++het) {
        const double expected = slow_p(het, one, other);
        EXPECT_NEAR(hardy_weinberg_p(het, one, other), expected, 1e-9 * expected + 1e-300);
      }
    }
  }
  EXPECT_NEAR(hardy_weinberg_p(3000, 2300, 1100) / slow_p(3000, 2300, 1100), 1, 1e-6);
}

TEST(HardyWeinberg, HoldsForAnyNumbers) {
  EXPECT_EQ(hardy_weinberg_p(0, 0, 0), 1);
  EXPECT_EQ(hardy_weinberg_p(0, 0, 9), 1);
  EXPECT_EQ(hardy_weinberg_p(1, 0, 0), 1);
  // No heterozygote among 500,000: less than the smallest number.
  EXPECT_EQ(hardy_weinberg_p(0, 250000, 250000), 0);
  EXPECT_GT(hardy_weinberg_p(250000, 125000, 125000), 0.9);
}

}  // namespace
}  // namespace ancify
