// Checks that probes are signs, depend on nothing but their numbers, and that exact ones are known.
#include "core/reml/probes.h"

#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"

namespace ancify::reml {
namespace {

using test::DenseModel;
using test::RemlData;
using test::Vector;

TEST(Probes, AreSignsOfTheirNumbersAlone) {
  JobControl control;
  const std::int64_t n = 5000;
  Vector all(static_cast<std::size_t>(n * 20));
  fill_signs({control, 2}, 7, 3, n, 20, all.data());
  double sum = 0;
  for (const double value : all) {
    ASSERT_EQ(value * value, 1);
    sum += value;
  }
  EXPECT_LT(std::abs(sum), 4 * std::sqrt(100000.0));
  Vector one(static_cast<std::size_t>(n));
  fill_signs({control, 1}, 7, 8, n, 1, one.data());
  EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + 5 * n));
  // The first samples have the same signs among fewer samples.
  Vector fewer(1500);
  fill_signs({control, 1}, 7, 8, 1500, 1, fewer.data());
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), one.begin()));
  Vector other(static_cast<std::size_t>(n));
  fill_signs({control, 1}, 8, 8, n, 1, other.data());
  EXPECT_LT(std::abs(test::plain_dot(one, other)), 4 * std::sqrt(5000.0));
}

TEST(Probes, KnowWhetherTheyAreExact) {
  const RemlData data = test::make_data(2, 25, 40, 1, {0.5, 0.5});
  const DenseModel dense(data);
  const auto exact = [&](const Vector& matrix) {
    return Probes(dense.fixed, matrix, dense.workers).exact();
  };
  Vector z = dense.fixed.orthogonal_probes();
  EXPECT_TRUE(exact(z));
  // Multiples of n unit vectors are exact too.
  Vector units(25 * 25, 0);
  for (std::size_t i = 0; i < 25; ++i) units[i * 26] = 5;
  EXPECT_TRUE(exact(units));
  for (double& value : units) value *= 1.1;
  EXPECT_FALSE(exact(units));
  z.resize(22 * 25);
  EXPECT_FALSE(exact(z));
  Vector signs(25 * 25);
  fill_signs(dense.workers, 1, 0, 25, 25, signs.data());
  EXPECT_FALSE(exact(signs));
  EXPECT_FALSE(Probes(dense.fixed, 1).exact());
}

}  // namespace
}  // namespace ancify::reml
