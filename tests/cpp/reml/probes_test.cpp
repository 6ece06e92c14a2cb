// Checks that probes are signs and depend only on their indices, and that exact probes are
// recognised.
#include "core/reml/solvers/probes.h"

#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"
#include "support.h"

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
  EXPECT_TRUE(exact(units));
  units[0] *= 1.1;
  EXPECT_FALSE(exact(units));
  z.resize(22 * 25);
  EXPECT_FALSE(exact(z));
  Vector signs(25 * 25);
  fill_signs(dense.workers, 1, 0, 25, 25, signs.data());
  EXPECT_FALSE(exact(signs));
  EXPECT_FALSE(Probes(dense.fixed, 1).exact());
}

// z'z of all probes as they are filled in, over their number.
double mean_square(const DenseModel& dense, const Probes& probes) {
  Vector z(static_cast<std::size_t>(probes.most()) * dense.data.samples());
  probes.fill(dense.workers, 0, probes.most(), z.data());
  return test::plain_dot(z, z) / probes.most();
}

TEST(Probes, MayBeExplainedByTheEffectsAndHaveAnyScale) {
  // The columns of a Hadamard matrix begin with an intercept, which is the only effect.
  RemlData data = test::make_data(2, 16, 40, 1, {0.5, 0.5});
  data.x.resize(16);
  const DenseModel dense(data);
  Vector hadamard;
  for (unsigned j = 0; j < 16; ++j) {
    for (unsigned i = 0; i < 16; ++i) {
      unsigned both = i & j;
      int sign = 1;
      for (; both != 0; both &= both - 1) sign = -sign;
      hadamard.push_back(sign);
    }
  }
  const Probes all(dense.fixed, hadamard, dense.workers);
  EXPECT_TRUE(all.exact());
  EXPECT_EQ(all.most(), 15);
  EXPECT_NEAR(mean_square(dense, all), 15, 1e-12);
  const Probes others(dense.fixed, Vector(hadamard.begin() + 16, hadamard.end()), dense.workers);
  EXPECT_TRUE(others.exact());
  EXPECT_NEAR(mean_square(dense, others), 15, 1e-12);
  // One of two random probes is explained, and counts as 0.
  Vector two(16, 1);
  Vector signs(16);
  fill_signs(dense.workers, 1, 0, 16, 1, signs.data());
  two.insert(two.end(), signs.begin(), signs.end());
  const Probes half(dense.fixed, two, dense.workers);
  EXPECT_EQ(half.most(), 1);
  const Probes one(dense.fixed, signs, dense.workers);
  EXPECT_NEAR(mean_square(dense, half), mean_square(dense, one) / 2, 1e-12);
  const auto message = [&](const Vector& matrix) {
    return ancify::test::message_of<InputError>(
        [&] { Probes(dense.fixed, matrix, dense.workers).exact(); });
  };
  EXPECT_EQ(message(Vector(16, 0)), "column 1 of the probes is 0 everywhere; leave it out");
  EXPECT_EQ(message(Vector(16, -2)),
            "the fixed effects explain all columns of the probes; give random ones");
}

}  // namespace
}  // namespace ancify::reml
