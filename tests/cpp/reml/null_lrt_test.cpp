// Compares the null distribution of the likelihood-ratio statistic with plain maxima, and with the
// F distribution where the kernel has one eigenvalue.
#include "core/reml/inference/null_lrt.h"

#include <algorithm>
#include <cmath>

#include "core/exec/errors.h"
#include "gtest/gtest.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

// The largest of many values of the statistic's definition.
double plain_statistic(const Vector& eigenvalues, const Vector& squares) {
  const auto n = static_cast<double>(squares.size());
  double all = 0;
  for (const double square : squares) all += square;
  double best = 0;
  for (double t = -20; t < 20; t += 0.002) {
    double rest = 0;
    double logs = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double h = 1 + std::exp(t) * eigenvalues[i];
      rest += squares[i] / h;
      logs += std::log(h);
    }
    best = std::max(best, n * std::log(all / rest) - logs);
  }
  return best;
}

TEST(NullLrt, IsTheLargestValueOfItsDefinition) {
  std::mt19937 random(1);
  int zeros = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t n = 5 + trial % 30;
    Vector eigenvalues;
    Vector squares;
    for (const double value : test::random_matrix(random, n, 1)) squares.push_back(value * value);
    for (std::size_t i = 0; i < n; ++i) {
      const double power = static_cast<double>(random() % 100) / 25 - 2;
      eigenvalues.push_back(i % 3 == 0 ? -1e-15 : std::pow(10, power));
    }
    const double found = NullLrt(eigenvalues).statistic(squares);
    const double expected = plain_statistic(eigenvalues, squares);
    EXPECT_NEAR(found, expected, 1e-5) << trial;
    EXPECT_GE(found, expected - 1e-12) << trial;
    zeros += found == 0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 5);
  EXPECT_LT(zeros, 55);
}

// One kernel of families: the statistic is 0 where F <= 1, and else a function of F alone.
TEST(NullLrt, OneEigenvalueGivesTheStatisticOfVarianceRatios) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 40; ++trial) {
    constexpr std::size_t kBetween = 7;
    constexpr std::size_t kWithin = 24;
    Vector eigenvalues(kBetween, 4.0);
    eigenvalues.resize(kBetween + kWithin, 0);
    Vector squares;
    for (const double value : test::random_matrix(random, kBetween + kWithin, 1)) {
      squares.push_back(value * value);
    }
    double between = 0;
    double within = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) {
      (i < kBetween ? between : within) += squares[i];
    }
    const double f = (between / kBetween) / (within / kWithin);
    const double n = kBetween + kWithin;
    const double expected =
        f <= 1 ? 0 : n * std::log((kBetween * f + kWithin) / n) - kBetween * std::log(f);
    EXPECT_NEAR(NullLrt(eigenvalues).statistic(squares), expected, 1e-10);
  }
}

// Squares of N normal variates have the sum N; the F distribution with 1 and 1 degrees of freedom
// is at most 1 with probability 1/2.
TEST(NullLrt, DrawsAreOfTheNullHypothesis) {
  constexpr std::int64_t kDraws = 40000;
  JobControl control;
  const Vector values = draw_null_lrt({1, 0}, kDraws, 3, 1, control);
  double zeros = 0;
  double above = 0;
  // F is at most tan(0.9 pi / 2)^2 with probability 0.9.
  const double f = std::pow(std::tan(0.45 * 3.14159265358979323846), 2);
  const double limit = 2 * std::log((f + 1) / 2) - std::log(f);
  for (const double value : values) {
    zeros += value == 0 ? 1 : 0;
    above += value > limit ? 1 : 0;
  }
  EXPECT_NEAR(zeros / kDraws, 0.5, 4 * std::sqrt(0.25 / kDraws));
  EXPECT_NEAR(above / kDraws, 0.1, 4 * std::sqrt(0.09 / kDraws));
  EXPECT_EQ(control.done(), kDraws);
  EXPECT_EQ(control.expected(), kDraws);
}

TEST(NullLrt, DrawsDependOnTheSeedAlone) {
  std::mt19937 random(4);
  Vector eigenvalues;
  for (const double value : test::random_matrix(random, 33, 1)) {
    eigenvalues.push_back(value * value);
  }
  JobControl control;
  const Vector one = draw_null_lrt(eigenvalues, 200, 5, 1, control);
  EXPECT_EQ(draw_null_lrt(eigenvalues, 200, 5, 3, control), one);
  Vector first = draw_null_lrt(eigenvalues, 150, 5, 2, control);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), one.begin()));
  EXPECT_NE(draw_null_lrt(eigenvalues, 200, 6, 1, control), one);
}

TEST(NullLrt, NeedsAnEigenvalueAboveZero) {
  JobControl control;
  EXPECT_THROW(draw_null_lrt({0, -1e-17}, 10, 1, 1, control), InputError);
}

}  // namespace
}  // namespace ancify::reml
