// Checks solutions against dense algebra, and that columns do not affect each other.
#include "core/reml/solvers/conjugate_gradients.h"

#include <algorithm>
#include <cmath>

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

Vector solved(const DenseModel& dense, const Vector& theta, int rank, int columns, const Vector& b,
              double tolerance) {
  const Sketch sketch(dense.model, Vector(theta.begin(), theta.end() - 1), rank, 1);
  Vector x(b.size(), 0);
  EXPECT_TRUE(solve(RestrictedCovariance(dense.model, theta), Preconditioner(sketch, theta),
                    columns, b.data(), Vector(static_cast<std::size_t>(columns), tolerance),
                    x.data()));
  return x;
}

TEST(ConjugateGradients, EqualDenseAlgebra) {
  const Vector theta = {0.7, 0.3, 0.2};
  for (const std::size_t size : {1, 5}) {
    const RemlData data = test::make_data(3, 60, 50, size, theta);
    const DenseModel dense(data);
    const test::PlainReml plain(data.y, data.x, data.kernels, theta);
    Vector b(60 * 4);
    Probes(dense.fixed, 5).fill(dense.workers, 0, 4, b.data());
    const Vector expected = test::plain_product(plain.projection, b, 60);
    for (const int rank : {0, 15}) {
      const Vector x = solved(dense, theta, rank, 4, b, 1e-13);
      for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(x[k], expected[k], 1e-11);
    }
  }
}

TEST(ConjugateGradients, ColumnsDoNotAffectEachOther) {
  const Vector theta = {0.7, 0.2};
  const RemlData data = test::make_data(3, 60, 50, 5, theta);
  const DenseModel dense(data);
  Vector b(60 * 3);
  Probes(dense.fixed, 5).fill(dense.workers, 0, 3, b.data());
  for (std::size_t i = 0; i < 60; ++i) b[60 + i] *= 1e6;
  const Vector together = solved(dense, theta, 5, 3, b, 1e-5);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto begin = static_cast<std::ptrdiff_t>(60 * c);
    const Vector alone =
        solved(dense, theta, 5, 1, Vector(b.begin() + begin, b.begin() + begin + 60), 1e-5);
    // BLAS rounds products of one column and of three differently, and each step adds to that.
    double most = 0;
    for (const double value : alone) most = std::max(most, std::abs(value));
    for (std::size_t i = 0; i < 60; ++i) {
      ASSERT_NEAR(together[60 * c + i], alone[i], 1e-11 * most);
    }
  }
}

TEST(ConjugateGradients, AGoodStartCostsFewerPasses) {
  const Vector theta = {0.7, 0.2};
  const RemlData data = test::make_data(3, 60, 50, 5, theta);
  DenseModel dense(data);
  const Sketch sketch(dense.model, {1}, 5, 1);
  const RestrictedCovariance covariance(dense.model, theta);
  const Preconditioner preconditioner(sketch, theta);
  Vector x(60, 0);
  const auto passes = [&] {
    const double before = dense.kernels.passes();
    EXPECT_TRUE(
        solve(covariance, preconditioner, 1, dense.fixed.projected_y().data(), {1e-8}, x.data()));
    return dense.kernels.passes() - before;
  };
  const double first = passes();
  EXPECT_GT(first, 5);
  EXPECT_EQ(passes(), 1);
}

TEST(ConjugateGradients, NameAKernelThatIsNotPositive) {
  RemlData data = test::make_data(3, 60, 90, 5, {0.5, 0.5, 0.5});
  data.kernels[1][3 * 61] -= 30;
  const DenseModel dense(data);
  const Vector theta = {0.5, 0.5, 0.1};
  const Sketch sketch(dense.model, {1, 1}, 0, 1);
  const RestrictedCovariance covariance(dense.model, theta);
  Vector x(60, 0);
  EXPECT_EQ(ancify::test::message_of<NotPositive>([&] {
              solve(covariance, Preconditioner(sketch, {0.5, 0, 0.1}), 1,
                    dense.fixed.projected_y().data(), {1e-8}, x.data());
            }),
            "the kernel of component 2 has a negative eigenvalue on these samples; a kernel must "
            "have none");
}

TEST(ConjugateGradients, StopWhenTheJobIsStopped) {
  const RemlData data = test::make_data(3, 60, 50, 1, {0.5, 0.5});
  DenseModel dense(data);
  const Sketch sketch(dense.model, {1}, 5, 1);
  dense.control.request_stop();
  Vector x(60, 0);
  EXPECT_THROW(
      solve(RestrictedCovariance(dense.model, {0.5, 0.5}), Preconditioner(sketch, {0.5, 0.5}), 1,
            dense.fixed.projected_y().data(), {1e-8}, x.data()),
      Interrupted);
}

}  // namespace
}  // namespace ancify::reml
