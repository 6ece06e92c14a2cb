// Checks the preconditioner's inverse, traces and forms against dense algebra.
#include "core/reml/solvers/preconditioner.h"

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

// The matrix scale * (S - UU') + U inner U', dense.
Vector dense_matrix(const DenseModel& dense, const Sketch& sketch, double scale,
                    const Vector& inner) {
  const auto n = static_cast<std::size_t>(dense.model.samples());
  const Vector& u = sketch.basis();
  const Vector& q = dense.fixed.basis();
  const Vector qq = test::plain_matrix_product(q, test::plain_transpose(q, n), n);
  const Vector uu = test::plain_matrix_product(u, test::plain_transpose(u, n), n);
  Vector result = test::plain_matrix_product(test::plain_matrix_product(u, inner, n),
                                             test::plain_transpose(u, n), n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      result[j * n + i] += scale * ((i == j ? 1 : 0) - qq[j * n + i] - uu[j * n + i]);
    }
  }
  return result;
}

struct Case {
  Case() : data(test::make_data(3, 40, 60, 4, {0.5, 0.2, 0.4})), dense(data) {}

  RemlData data;
  DenseModel dense;
  Vector theta = {0.7, 0.3, 0.5};
};

TEST(Sketch, IsAnOrthonormalBasisOfTheErrorContrasts) {
  const Case c;
  const Sketch sketch(c.dense.model, {1, 1}, 8, 1);
  ASSERT_EQ(sketch.rank(), 8);
  const Vector& u = sketch.basis();
  const Vector uu = test::plain_matrix_product(test::plain_transpose(u, 40), u, 8);
  const Vector qu =
      test::plain_matrix_product(test::plain_transpose(c.dense.fixed.basis(), 40), u, 2);
  for (std::size_t k = 0; k < uu.size(); ++k) EXPECT_NEAR(uu[k], k % 9 == 0 ? 1 : 0, 1e-13);
  for (const double value : qu) EXPECT_NEAR(value, 0, 1e-13);
  // A kernel's trace is its trace along U plus the mean of the rest in each of the 30 other
  // directions.
  const double whole = test::plain_trace(sketch.inner(1), 8) + 30 * sketch.outer(1);
  EXPECT_NEAR(whole, c.dense.model.traces[1], 1e-10);
}

TEST(Sketch, HasFewerDirectionsOfAKernelThatHasFewer) {
  RemlData data = test::make_data(4, 40, 3, 1, {0.5, 0.5});
  const DenseModel dense(data);
  const Sketch sketch(dense.model, {1}, 10, 1);
  EXPECT_EQ(sketch.rank(), 3);
  EXPECT_NEAR(sketch.outer(0), 0, 1e-12);
}

TEST(Sketch, RefusesAKernelWithANegativeEigenvalue) {
  RemlData data = test::make_data(4, 40, 60, 1, {0.5, 0.5, 0.5});
  for (std::size_t i = 0; i < 40; ++i) data.kernels[1][i * 41] += 9 * (i % 2 == 0 ? 1 : -1);
  const DenseModel dense(data);
  const std::string message = ancify::test::message_of<InputError>([&] {
    Sketch(dense.model, {1, 1}, 10, 1);
  });
  EXPECT_EQ(message.substr(0, 50), "the kernel of component 2 has the negative eigenva");
}

TEST(Preconditioner, EqualsDenseAlgebra) {
  const Case c;
  for (const int rank : {1, 8}) {
    const Sketch sketch(c.dense.model, {0.7, 0.3}, rank, 1);
    const Preconditioner preconditioner(sketch, c.theta);
    const Vector m =
        dense_matrix(c.dense, sketch, sketch.outer_sum(c.theta), sketch.inner_sum(c.theta));
    Vector v(40 * 3);
    Probes(c.dense.fixed, 5).fill(c.dense.workers, 0, 3, v.data());
    Vector solved(v.size());
    preconditioner.solve(v.data(), 3, solved.data());
    const Vector back = test::plain_product(m, solved, 40);
    for (std::size_t k = 0; k < v.size(); ++k) ASSERT_NEAR(back[k], v[k], 1e-12);

    // M + QQ' has the inverse M^+ + QQ' and the determinant of M on the complement.
    const Vector& q = c.dense.fixed.basis();
    const Vector qq = test::plain_matrix_product(q, test::plain_transpose(q, 40), 40);
    Vector filled = m;
    for (std::size_t k = 0; k < m.size(); ++k) filled[k] += qq[k];
    const test::Inverse inverse(filled, 40);
    const SketchSpectrum spectrum(sketch, c.theta);
    const auto log = [](double x) { return std::log(x); };
    EXPECT_NEAR(spectrum.trace().of(log), inverse.log_determinant, 1e-11);

    const Shadows shadows(sketch, 3, v.data());
    const Vector traces = preconditioner.traces();
    const Vector forms = preconditioner.quadratic_forms(shadows);
    for (std::size_t i = 0; i < 3; ++i) {
      const Vector a = i == 2 ? Vector()
                              : dense_matrix(c.dense, sketch, sketch.outer(static_cast<int>(i)),
                                             sketch.inner(static_cast<int>(i)));
      Vector product = inverse.values;
      for (std::size_t k = 0; k < product.size(); ++k) product[k] -= qq[k];
      if (i < 2) product = test::plain_product(product, a, 40);
      EXPECT_NEAR(traces[i], test::plain_trace(product, 40), 1e-10);
      for (std::size_t k = 0; k < 3; ++k) {
        const Vector column(v.begin() + static_cast<std::ptrdiff_t>(40 * k),
                            v.begin() + static_cast<std::ptrdiff_t>(40 * (k + 1)));
        EXPECT_NEAR(forms[i * 3 + k],
                    test::plain_dot(column, test::plain_product(product, column, 40)), 1e-10);
      }
    }
    // v'f(M)v for a function whose value dense algebra knows.
    for (std::size_t k = 0; k < 3; ++k) {
      const Vector column(v.begin() + static_cast<std::ptrdiff_t>(40 * k),
                          v.begin() + static_cast<std::ptrdiff_t>(40 * (k + 1)));
      const double form =
          spectrum.form(shadows, static_cast<int>(k)).of([](double x) { return 1 / x; });
      Vector solution(solved.begin() + static_cast<std::ptrdiff_t>(40 * k),
                      solved.begin() + static_cast<std::ptrdiff_t>(40 * (k + 1)));
      EXPECT_NEAR(form, test::plain_dot(column, solution), 1e-10);
    }
  }
}

TEST(ProductShadows, EqualDenseAlgebra) {
  const Case c;
  for (const int rank : {1, 8}) {
    const Sketch sketch(c.dense.model, {0.7, 0.3}, rank, 1);
    const Preconditioner preconditioner(sketch, c.theta);
    Vector v(40 * 4);
    Probes(c.dense.fixed, 5).fill(c.dense.workers, 0, 4, v.data());
    const double* const u = v.data() + 80;
    const RestrictedCovariance covariance(c.dense.model, c.theta);
    const Vector forms = preconditioner.quadratic_forms(
        ProductShadows(sketch, covariance, 2, u, v.data()), Shadows(sketch, 2, v.data()));
    Vector hu(80);
    covariance.times(u, 2, Precision::kFull, hu.data());
    for (std::size_t i = 0; i < 3; ++i) {
      const Vector a = i == 2 ? v
                              : test::plain_product(
                                    dense_matrix(c.dense, sketch, sketch.outer(static_cast<int>(i)),
                                                 sketch.inner(static_cast<int>(i))),
                                    v, 40);
      Vector solved(80);
      preconditioner.solve(a.data(), 2, solved.data());
      for (std::size_t k = 0; k < 2; ++k) {
        double expected = 0;
        for (std::size_t row = 40 * k; row < 40 * k + 40; ++row) expected += hu[row] * solved[row];
        EXPECT_NEAR(forms[2 * i + k], expected, 1e-6) << rank;
      }
    }
  }
}

TEST(SketchSpectrum, KnowsWhatFormsAreToTheFirstOrder) {
  const Case c;
  const RestrictedCovariance covariance(c.dense.model, c.theta);
  const auto log = [](double x) { return std::log(x); };
  const auto inverse = [](double x) { return 1 / x; };
  for (const int rank : {0, 8}) {
    const Sketch sketch(c.dense.model, {0.7, 0.3}, rank, 1);
    const SketchSpectrum spectrum(sketch, c.theta);
    // Over orthogonal probes its mean is 0.
    const Vector z = c.dense.fixed.orthogonal_probes();
    const int columns = static_cast<int>(c.dense.fixed.freedom());
    const Shadows seen(sketch, columns, z.data());
    const ProductShadows product(sketch, covariance, columns, z.data(), z.data());
    double log_sum = 0;
    double inverse_sum = 0;
    for (int k = 0; k < columns; ++k) {
      const SpectralSum first = spectrum.first_order(seen, product, k);
      log_sum += first.of(log);
      inverse_sum += first.of(inverse);
      // A form of H itself is linear.
      const double form = spectrum.form(seen, k).of([](double x) { return x; });
      EXPECT_NEAR(form + first.of([](double x) { return x; }),
                  product.forms[static_cast<std::size_t>(k)], 1e-9);
    }
    EXPECT_NEAR(log_sum / columns, 0, 1e-6);
    EXPECT_NEAR(inverse_sum / columns, 0, 1e-6);
  }
}

TEST(Preconditioner, OfRankZeroIsTheMeanSpectrum) {
  const Case c;
  const Sketch sketch(c.dense.model, {1, 1}, 0, 1);
  const Preconditioner preconditioner(sketch, c.theta);
  double mean = c.theta[2];
  for (std::size_t g = 0; g < 2; ++g) mean += c.theta[g] * c.dense.model.traces[g] / 38;
  const Vector& y = c.dense.fixed.projected_y();
  Vector solved(40);
  preconditioner.solve(y.data(), 1, solved.data());
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(solved[i], y[i] / mean, 1e-14);
  EXPECT_NEAR(preconditioner.traces()[2], 38 / mean, 1e-12);
}

TEST(Preconditioner, NamesAComponentWhoseVarianceIsTooFarBelowZero) {
  const Case c;
  const Sketch sketch(c.dense.model, {1, 1}, 8, 1);
  EXPECT_EQ(ancify::test::message_of<NotPositive>([&] {
              Preconditioner(sketch, {0.5, -3, 0.1});
            }),
            "with a variance of -3.000000 for component 2 the covariance is not positive");
}

}  // namespace
}  // namespace ancify::reml
