// Checks quadrature against eigenvalues, and that its two rules bracket the value.
#include "core/reml/solvers/lanczos.h"

#include <cmath>

#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/solvers/probes.h"
#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"

namespace ancify::reml {
namespace {

using test::DenseModel;
using test::RemlData;
using test::Vector;

// v'f(SKS)v by the eigenvalues of SKS, for v on the complement.
template <class Function>
double plain_form(const DenseModel& dense, const Vector& kernel, const Vector& v,
                  const Function& f) {
  const std::size_t n = v.size();
  const Vector& q = dense.fixed.basis();
  Vector s = test::plain_matrix_product(q, test::plain_transpose(q, n), n);
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = (k % (n + 1) == 0 ? 1 : 0) - s[k];
  Vector vectors = test::plain_product(test::plain_product(s, kernel, n), s, n);
  const Vector values = symmetric_eigen(static_cast<int>(n), vectors.data(), true);
  const Vector along = test::plain_product(test::plain_transpose(vectors, n), v, n);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (std::abs(along[k]) > 1e-10) sum += along[k] * along[k] * f(values[k]);
  }
  return sum;
}

TEST(Quadrature, RunsToTheEndAreExact) {
  for (const std::size_t size : {1, 6}) {
    const RemlData data = test::make_data(5, 48, 40, size, {0.5, 0.5});
    const DenseModel dense(data);
    const RestrictedCovariance kernel(dense.model, {1, 0});
    Vector v(48 * 2);
    Probes(dense.fixed, 5).fill(dense.workers, 0, 2, v.data());
    Lanczos lanczos(kernel);
    lanczos.add(2, v.data());
    lanczos.advance(60);
    for (std::size_t c = 0; c < 2; ++c) {
      const Vector column(v.begin() + static_cast<std::ptrdiff_t>(48 * c),
                          v.begin() + static_cast<std::ptrdiff_t>(48 * (c + 1)));
      for (const double power : {-1.0, 0.5, 2.0}) {
        const auto f = [power](double x) { return std::pow(x + 0.3, power); };
        const double expected = plain_form(dense, data.kernels[0], column, f);
        EXPECT_NEAR(gauss_rule(lanczos.runs()[c]).of(f), expected, 1e-10 * expected);
        EXPECT_NEAR(gauss_radau_rule(lanczos.runs()[c], -1e-9).of(f), expected, 1e-9 * expected);
      }
    }
  }
}

TEST(Quadrature, RulesEncloseTheForm) {
  const RemlData data = test::make_data(6, 80, 200, 5, {0.5, 0.5});
  const DenseModel dense(data);
  const RestrictedCovariance kernel(dense.model, {1, 0});
  Vector v(80);
  Probes(dense.fixed, 5).fill(dense.workers, 0, 1, v.data());
  const auto inverse = [](double x) { return 1 / (x + 0.1); };
  const auto log = [](double x) { return std::log(x + 0.1); };
  const double expected = plain_form(dense, data.kernels[0], v, inverse);
  const double expected_log = plain_form(dense, data.kernels[0], v, log);
  double width = 1e9;
  for (const int steps : {2, 4, 8, 16}) {
    Lanczos lanczos(kernel);
    lanczos.add(1, v.data());
    lanczos.advance(steps);
    const LanczosRun& run = lanczos.runs()[0];
    ASSERT_EQ(run.steps(), steps);
    const SpectralSum gauss = gauss_rule(run);
    const SpectralSum radau = gauss_radau_rule(run, 0);
    EXPECT_LT(gauss.of(inverse), expected);
    EXPECT_GT(radau.of(inverse), expected);
    EXPECT_GT(gauss.of(log), expected_log);
    EXPECT_LT(radau.of(log), expected_log);
    EXPECT_LT(radau.of(inverse) - gauss.of(inverse), width / 2);
    width = radau.of(inverse) - gauss.of(inverse);
  }
}

TEST(Lanczos, AStepOfAllRunsIsOnePass) {
  const RemlData data = test::make_data(6, 40, 200, 5, {0.5, 0.5});
  DenseModel dense(data);
  const RestrictedCovariance kernel(dense.model, {1, 0});
  Vector v(40 * 5);
  Probes(dense.fixed, 5).fill(dense.workers, 0, 5, v.data());
  Lanczos together(kernel);
  together.add(5, v.data());
  together.advance(9);
  Lanczos later(kernel);
  const double before = dense.kernels.passes();
  later.add(2, v.data());
  later.advance(4);
  later.add(3, v.data() + 80);
  later.advance(9);
  EXPECT_EQ(dense.kernels.passes() - before, 13);
  for (std::size_t c = 0; c < 5; ++c) {
    for (std::size_t k = 0; k < 9; ++k) {
      EXPECT_NEAR(later.runs()[c].diagonal[k], together.runs()[c].diagonal[k], 1e-9);
    }
  }
}

TEST(Lanczos, ARunOfFewDirectionsEnds) {
  const RemlData data = test::make_data(6, 40, 3, 1, {0.5, 0.5});
  const DenseModel dense(data);
  const RestrictedCovariance kernel(dense.model, {1, 0});
  Lanczos lanczos(kernel);
  lanczos.add(1, dense.fixed.projected_y().data());
  lanczos.advance(30);
  EXPECT_TRUE(lanczos.runs()[0].exhausted);
  EXPECT_LE(lanczos.runs()[0].steps(), 6);
}

}  // namespace
}  // namespace ancify::reml
