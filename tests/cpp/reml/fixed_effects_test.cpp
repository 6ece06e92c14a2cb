// Checks the projection, the coefficients, and probes that span the complement.
#include "core/reml/fit/fixed_effects.h"

#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"
#include "support.h"

namespace ancify::reml {
namespace {

using test::DenseModel;
using test::RemlData;
using test::Vector;

TEST(FixedEffects, LeaveTheResidualsOfARegression) {
  const RemlData data = test::make_data(1, 30, 40, 1, {0.5, 0.5});
  const DenseModel dense(data);
  // With the covariance I, Py is the residual of least squares.
  const test::PlainReml plain(data.y, data.x, {Vector(900, 0)}, {0, 1});
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(dense.fixed.projected_y()[i], plain.py[i], 1e-12);
  }
  const Vector coefficients = dense.fixed.coefficients(dense.workers, data.y);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(coefficients[j], plain.coefficients[j], 1e-12);
  }
  const Vector covariance = dense.fixed.covariance({1, 0, 0, 1});
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(covariance[k], plain.covariance[k], 1e-12);
  }
}

TEST(FixedEffects, OrthogonalProbesGiveTheTrace) {
  const RemlData data = test::make_data(2, 25, 40, 1, {0.5, 0.5});
  const DenseModel dense(data);
  const Vector z = dense.fixed.orthogonal_probes();
  const std::size_t probes = z.size() / 25;
  ASSERT_EQ(probes, 23U);
  double sum = 0;
  for (std::size_t c = 0; c < probes; ++c) {
    const Vector column(z.begin() + static_cast<std::ptrdiff_t>(25 * c),
                        z.begin() + static_cast<std::ptrdiff_t>(25 * (c + 1)));
    sum += test::plain_dot(column, test::plain_product(data.kernels[0], column, 25));
  }
  EXPECT_NEAR(sum / static_cast<double>(probes), dense.model.traces[0], 1e-10);
}

TEST(FixedEffects, RefuseDataWithoutVarianceLeft) {
  JobControl control;
  const Workers workers = {control, 1};
  const auto message = [&](const FitData& data) {
    return ancify::test::message_of<InputError>([&] { FixedEffects(data, workers); });
  };
  EXPECT_EQ(message({{1, 1, 1}, {1, 1, 1}, {}}), "y has no variance beyond the fixed effects");
  EXPECT_EQ(message({{5e9, 5e9, 5e9}, {1, 1, 1}, {}}),
            "y has no variance beyond the fixed effects");
  EXPECT_EQ(
      message({{1, 2}, {1, 1, 0, 1}, {}}),
      "there are 2 fixed effects, but 2 samples; there must be fewer fixed effects than samples");
  EXPECT_EQ(message({{1, 2, 3}, {1, 1, 1, 2, 2, 2}, {}}),
            "column 2 of the fixed effects depends on the columns before it; leave it out");
}

}  // namespace
}  // namespace ancify::reml
