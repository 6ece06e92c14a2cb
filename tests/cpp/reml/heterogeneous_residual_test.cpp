// Checks a residual of several variances against dense matrices and the exact path.
#include "core/reml/kernels/heterogeneous_residual.h"

#include <cmath>

#include "core/reml/exact/exact_fit.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"
#include "support.h"

namespace ancify::reml {
namespace {

using test::RemlData;
using test::Vector;

// Shares of `residuals` for each sample.
Vector random_shares(std::size_t n, std::size_t residuals, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> part;
  Vector shares(n * residuals);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < residuals; ++a) sum += shares[a * n + i] = part(random);
    for (std::size_t a = 0; a < residuals; ++a) shares[a * n + i] /= sum;
  }
  return shares;
}

FitData with_shares(const RemlData& data, std::size_t residuals) {
  FitData fit = data.fit();
  fit.residual_shares = random_shares(data.samples(), residuals, 3);
  return fit;
}

TEST(HeterogeneousResidual, IsALinearMapOfVariances) {
  const HeterogeneousResidual residual(3);
  const Vector theta = {5, 1, 2, 4};
  EXPECT_EQ(residual.with_identity(theta), (Vector{5, -3, -2, 4}));
  EXPECT_EQ(residual.by_share({5, -3, -2, 4}), theta);
  // s'd is the same in both.
  EXPECT_EQ(residual.slopes({1, 10, 100, 1000}), (Vector{1, 10, 100, 890}));
  const HeterogeneousResidual one(1);
  EXPECT_EQ(one.with_identity(theta), theta);
  EXPECT_EQ(one.slopes(theta), theta);
  EXPECT_EQ(one.curvatures(theta, 2), theta);
}

TEST(ResidualKernels, AreTheGivenOnesAndDiagonals) {
  const RemlData data = test::make_data(5, 40, 50, 2, {0.5, 0.5});
  const FitData fit = with_shares(data, 3);
  JobControl control;
  MatrixKernels given(40, test::DenseModel::pointers(data), control);
  ResidualKernels kernels(&given, fit);
  ASSERT_EQ(kernels.components(), 3);
  const Vector theta = {0.7, -0.2, 0.3};
  Vector sum(40 * 40);
  Vector dense(sum.size());
  for (int g = 0; g < 3; ++g) {
    kernels.dense(g, dense.data());
    double trace = 0;
    for (std::size_t i = 0; i < 40; ++i) trace += dense[i * 41];
    EXPECT_NEAR(kernels.mean_diagonal(g), trace / 40, 1e-12);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += theta[static_cast<std::size_t>(g)] * dense[k];
    }
    Vector forms(3 * 2);
    const Vector columns(data.x.begin(), data.x.end());
    kernels.quadratic_forms(columns.data(), columns.data(), 2, Precision::kFull, forms.data());
    for (std::size_t c = 0; c < 2; ++c) {
      double form = 0;
      for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) {
          form += columns[c * 40 + i] * dense[i * 40 + j] * columns[c * 40 + j];
        }
      }
      EXPECT_NEAR(forms[static_cast<std::size_t>(g) * 2 + c], form, 1e-10 * std::abs(form));
    }
  }
  Vector out(40);
  kernels.times(theta.data(), data.y.data(), 1, Precision::kFull, out.data());
  for (std::size_t i = 0; i < 40; ++i) {
    double expected = 0;
    for (std::size_t j = 0; j < 40; ++j) expected += sum[i * 40 + j] * data.y[j];
    EXPECT_NEAR(out[i], expected, 1e-10);
  }
  ResidualKernels alone(nullptr, fit);
  EXPECT_EQ(alone.components(), 2);
  EXPECT_EQ(alone.passes(), 0);
  alone.times(theta.data() + 1, data.y.data(), 1, Precision::kFull, out.data());
  for (std::size_t i = 0; i < 40; ++i) {
    const Vector& q = fit.residual_shares;
    EXPECT_NEAR(out[i], (-0.2 * q[i] + 0.3 * q[40 + i]) * data.y[i], 1e-12);
  }
}

TEST(StochasticFit, WithSeveralResidualsIsTheExactOne) {
  const RemlData data = test::make_data(31, 60, 120, 3, {0.6, 0.6});
  for (const std::size_t residuals : {2U, 3U}) {
    const FitData divided = with_shares(data, residuals);
    JobControl control;
    MatrixKernels kernels(60, test::DenseModel::pointers(data), control);
    StochasticSettings settings;
    settings.search.lower.assign(1 + residuals, std::nan(""));
    settings.search.tolerance = 1e-12;
    settings.probes = 60;  // this many probes are exact
    const Fit found = fit_stochastic(divided, kernels, settings, {}, control, 2);
    SearchSettings search;
    search.lower = settings.search.lower;
    const Fit expected = fit_exact(divided, kernels, search, {control, 2});
    EXPECT_TRUE(found.converged) << found.message;
    ASSERT_EQ(found.theta.size(), 1 + residuals);
    for (std::size_t i = 0; i <= residuals; ++i) {
      EXPECT_NEAR(found.theta[i], expected.theta[i], 1e-4) << i;
      EXPECT_NEAR(found.mean_diagonal[i], expected.mean_diagonal[i], 1e-12);
      EXPECT_EQ(found.at_bound[i], expected.at_bound[i]);
      for (std::size_t j = 0; j <= residuals; ++j) {
        const std::size_t k = i * (1 + residuals) + j;
        EXPECT_NEAR(found.information[k], expected.information[k],
                    1e-3 * std::abs(expected.information[0]));
      }
      EXPECT_EQ(found.iterations.front().theta.size(), 1 + residuals);
    }
    EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, 1e-4);
    EXPECT_NEAR(found.log_likelihood_null, expected.log_likelihood_null, 1e-4);
    ASSERT_EQ(found.genetic.size(), expected.genetic.size());
    for (std::size_t i = 0; i < found.genetic.size(); ++i) {
      EXPECT_NEAR(found.genetic[i], expected.genetic[i], 1e-4);
      EXPECT_NEAR(found.residual_projection[i], expected.residual_projection[i], 1e-4);
    }
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(found.coefficients[j], expected.coefficients[j], 1e-4);
    }
  }
}

}  // namespace
}  // namespace ancify::reml
