// Compares the exact path with explicit inverses, numerical derivatives and designs with a closed
// form, and its algorithms with each other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/exact/exact_fit.h"
#include "core/reml/exact/exact_model.h"
#include "core/reml/exact/search.h"
#include "core/reml/fit/error_contrasts.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "gtest/gtest.h"
#include "reml/plain_reml.h"

namespace ancify::reml {
namespace {

using test::PlainReml;
using test::Vector;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kUnset = std::numeric_limits<double>::quiet_NaN();

// Data of a model with random kernels; y has a part of each.
struct Example {
  Example(unsigned seed, std::size_t n, std::size_t p, const std::vector<std::size_t>& variants,
          const Vector& theta)
      : random(seed) {
    data.y = test::random_matrix(random, n, 1);
    for (double& value : data.y) value *= std::sqrt(theta.back());
    for (std::size_t g = 0; g < variants.size(); ++g) {
      const std::size_t m = variants[g];
      const Vector z = test::random_matrix(random, n, m);
      const Vector effects = test::random_matrix(random, m, 1);
      Vector kernel(n * n, 0);
      for (std::size_t k = 0; k < m; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
          data.y[i] += std::sqrt(theta[g] / static_cast<double>(m)) * z[k * n + i] * effects[k];
          for (std::size_t j = 0; j < n; ++j) {
            kernel[i * n + j] += z[k * n + i] * z[k * n + j] / static_cast<double>(m);
          }
        }
      }
      kernels.push_back(kernel);
    }
    data.x = test::random_matrix(random, n, p);
    if (p > 0) std::fill_n(data.x.begin(), n, 1.0);
    for (std::size_t j = 0; j < p; ++j) {
      for (std::size_t i = 0; i < n; ++i) data.y[i] += 3 * data.x[j * n + i];
    }
    settings.lower = Vector(kernels.size() + 1, kUnset);
  }

  MatrixKernels wrapped() {
    std::vector<const double*> pointers;
    for (const auto& kernel : kernels) pointers.push_back(kernel.data());
    return {data.samples(), pointers, *control};
  }
  Fit fit() {
    MatrixKernels all = wrapped();
    return fit_exact(data, all, settings, {*control, 2});
  }
  LikelihoodAt at(const Vector& theta) {
    MatrixKernels all = wrapped();
    return likelihoods_at(data, all, {theta}, true, {*control, 2}).front();
  }
  PlainReml plain(const Vector& theta) const { return {data.y, data.x, kernels, theta}; }

  std::mt19937 random;
  FitData data;
  std::vector<Vector> kernels;
  SearchSettings settings;
  std::shared_ptr<JobControl> control = std::make_shared<JobControl>();
};

void expect_near(const Vector& found, const Vector& expected, double relative) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], relative * largest) << i;
  }
}

std::string error_of(Example& example) {
  try {
    example.fit();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_same_fit(const Fit& found, const Fit& expected, double relative) {
  expect_near(found.theta, expected.theta, relative);
  EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, 1e-8);
  EXPECT_NEAR(found.log_likelihood_null, expected.log_likelihood_null, 1e-8);
  EXPECT_EQ(found.at_bound, expected.at_bound);
  EXPECT_TRUE(found.converged);
}

class AtAnyTheta : public ::testing::TestWithParam<std::vector<std::size_t>> {};

TEST_P(AtAnyTheta, LikelihoodAndDerivativesAreThoseOfExplicitInverses) {
  const auto& variants = GetParam();
  const std::size_t k = variants.size() + 1;
  for (const std::size_t p : {0, 1, 4}) {
    Example example(1, 45, p, variants, Vector(k, 1));
    Vector theta(k, 0.7);
    theta[0] = 1.3;
    const PlainReml expected = example.plain(theta);
    const LikelihoodAt found = example.at(theta);
    EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, 1e-10);
    EXPECT_NEAR(found.quadratic, expected.quadratic, 1e-10);
    expect_near(found.derivatives.score, expected.score, 1e-11);
    expect_near(found.derivatives.traces, expected.traces, 1e-11);
    expect_near(found.derivatives.average, expected.average, 1e-11);
    expect_near(found.derivatives.expected, expected.expected, 1e-11);
  }
}

TEST_P(AtAnyTheta, ScoreAndObservedInformationAreNumericalDerivatives) {
  const std::size_t k = GetParam().size() + 1;
  Example example(2, 40, 2, GetParam(), Vector(k, 1));
  const Vector theta(k, 0.9);
  const LikelihoodAt here = example.at(theta);
  for (std::size_t i = 0; i < k; ++i) {
    constexpr double kStep = 1e-4;
    Vector above = theta;
    above[i] += kStep;
    Vector below = theta;
    below[i] -= kStep;
    const LikelihoodAt up = example.at(above);
    const LikelihoodAt down = example.at(below);
    EXPECT_NEAR((up.log_likelihood - down.log_likelihood) / (2 * kStep), here.derivatives.score[i],
                1e-6);
    for (std::size_t j = 0; j < k; ++j) {
      const double observed =
          2 * here.derivatives.average[i * k + j] - here.derivatives.expected[i * k + j];
      EXPECT_NEAR((up.derivatives.score[j] - down.derivatives.score[j]) / (2 * kStep), -observed,
                  1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OneAndSeveral, AtAnyTheta,
                         ::testing::Values(std::vector<std::size_t>{20},
                                           std::vector<std::size_t>{300},
                                           std::vector<std::size_t>{30, 10},
                                           std::vector<std::size_t>{200, 50, 5}));

TEST(ExactFit, GivesWhatExplicitInversesGiveAtItsMaximum) {
  // Many columns are rotated in blocks.
  for (const auto& [p, variants] :
       {std::pair<std::size_t, std::vector<std::size_t>>{3, {60}}, {17, {60}}, {3, {60, 25}}}) {
    const std::size_t k = variants.size() + 1;
    Example example(3, 80, p, variants, Vector(k, 1));
    const Fit fit = example.fit();
    ASSERT_TRUE(fit.converged) << fit.message;
    EXPECT_EQ(fit.status, "converged");
    EXPECT_EQ(fit.at_bound, std::vector<char>(k, 0));
    EXPECT_LT(fit.iterations.back().decrement, 1e-18);
    const PlainReml plain = example.plain(fit.theta);
    EXPECT_NEAR(fit.log_likelihood, plain.log_likelihood, 1e-9);
    for (const double score : fit.score) EXPECT_NEAR(score, 0, 1e-8);
    for (const double score : plain.score) EXPECT_NEAR(score, 0, 1e-8);
    expect_near(fit.information, plain.average, 1e-9);
    expect_near(fit.coefficients, plain.coefficients, 1e-10);
    expect_near(fit.coefficients_covariance, plain.covariance, 1e-10);
    expect_near(fit.residual_projection, plain.py, 1e-10);
    for (std::size_t g = 0; g + 1 < k; ++g) {
      Vector genetic(fit.genetic.begin() + static_cast<std::ptrdiff_t>(g * 80),
                     fit.genetic.begin() + static_cast<std::ptrdiff_t>((g + 1) * 80));
      Vector expected = plain.apy[g];
      for (double& value : expected) value *= fit.theta[g];
      expect_near(genetic, expected, 1e-10);
      EXPECT_NEAR(fit.mean_diagonal[g], test::plain_trace(example.kernels[g], 80) / 80, 1e-12);
    }
    EXPECT_EQ(fit.mean_diagonal.back(), 1);
    const PlainReml none(example.data.y, example.data.x, {}, {1});
    const double variance = none.quadratic / static_cast<double>(80 - p);
    const PlainReml null(example.data.y, example.data.x, {}, {variance});
    EXPECT_NEAR(fit.log_likelihood_null, null.log_likelihood, 1e-9);
    EXPECT_EQ(fit.kernel_diagonal.size(), k == 2 ? 80 - p : 0);
  }
}

TEST(ExactFit, ExpectedInformationIsGivenIfAsked) {
  for (const auto& variants : {std::vector<std::size_t>{60}, std::vector<std::size_t>{60, 25}}) {
    Example example(3, 80, 3, variants, Vector(variants.size() + 1, 1));
    const Fit average = example.fit();
    example.settings.expected = true;
    const Fit fit = example.fit();
    expect_same_fit(fit, average, 1e-8);
    expect_near(fit.information, example.plain(fit.theta).expected, 1e-9);
  }
}

// Also where one of both variances is tiny, and where the kernel has no full rank.
TEST(ExactFit, TracesOfOneKernelAreSumsOverItsEigenvalues) {
  for (const std::size_t variants : {25U, 200U}) {
    Example example(5, 60, 0, {variants}, {1, 1});
    OneKernelModel model(example.kernels[0], example.data.y, "kernel", {*example.control, 2});
    const Vector eigenvalues = model.form().eigenvalues();
    for (const Vector& theta : {Vector{0, 1}, Vector{1e-9, 1}, Vector{0.01, 1}, Vector{1, 1},
                                Vector{1, 0.01}, Vector{1, 1e-5}}) {
      ASSERT_TRUE(model.move_to(theta));
      double log_determinant = 0;
      Vector traces(2, 0);
      Vector expected(4, 0);
      for (const double lambda : eigenvalues) {
        const double h = theta[0] * lambda + theta[1];
        log_determinant += std::log(h);
        traces[0] += lambda / h;
        traces[1] += 1 / h;
        expected[0] += 0.5 * lambda * lambda / h / h;
        expected[1] += 0.5 * lambda / h / h;
        expected[3] += 0.5 / h / h;
      }
      expected[2] = expected[1];
      const Derivatives found = model.derivatives(true);
      const double tolerance = 1e-13 * std::max(1.0, theta[0] / theta[1]);
      EXPECT_NEAR(model.log_determinant(), log_determinant, 60 * tolerance);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(found.traces[i] / traces[i], 1, 10 * tolerance) << theta[0] << " " << theta[1];
      }
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(found.expected[i] / expected[i], 1, 100 * tolerance)
            << theta[0] << " " << theta[1] << ", " << i;
      }
    }
  }
}

// The tridiagonal form and the Cholesky factor are two ways to one maximum.
TEST(ExactFit, BothModelsOfOneKernelAgree) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Example example(seed, 90, 2, {seed % 2 == 0 ? 40U : 400U}, {0.3 * seed, 1});
    const Fit fit = example.fit();
    const ErrorContrasts contrasts(example.data);
    Vector kernel = example.kernels[0];
    contrasts.rotate_kernel({*example.control, 2}, kernel.data());
    Vector inner;
    for (std::size_t j = 2; j < 90; ++j) {
      inner.insert(inner.end(), kernel.begin() + static_cast<std::ptrdiff_t>(j * 90 + 2),
                   kernel.begin() + static_cast<std::ptrdiff_t>(j * 90 + 90));
    }
    const Vector rotated = contrasts.rotate(example.data.y);
    CholeskyModel model({inner}, {rotated.begin() + 2, rotated.end()}, {"k"},
                        {*example.control, 2});
    SearchSettings settings;
    settings.lower = {0, 1e-6};
    const Maximum other = search(model, settings);
    ASSERT_TRUE(other.converged) << other.message;
    expect_near(other.theta, fit.theta, 1e-8);
    EXPECT_NEAR(other.log_likelihood, fit.log_likelihood, 1e-9);
    expect_near(other.information, fit.information, 1e-7);
    EXPECT_EQ(other.at_bound, fit.at_bound);
  }
}

// At the maximum of two kernels, the sum of both with these thetas is one kernel with theta 1.
TEST(ExactFit, KernelsThatSumToAKernelShareItsTheta) {
  Example example(5, 70, 1, {50, 80}, {1, 1, 1});
  const Fit two = example.fit();
  ASSERT_GT(two.theta[0], 0);
  ASSERT_GT(two.theta[1], 0);
  Example one = example;
  one.kernels.resize(1);
  for (std::size_t i = 0; i < one.kernels[0].size(); ++i) {
    one.kernels[0][i] = two.theta[0] * example.kernels[0][i] + two.theta[1] * example.kernels[1][i];
  }
  one.settings.lower.resize(2);
  const Fit sum = one.fit();
  EXPECT_NEAR(sum.theta[0], 1, 1e-8);
  EXPECT_NEAR(sum.theta[1], two.theta[2], 1e-8);
  EXPECT_NEAR(sum.log_likelihood, two.log_likelihood, 1e-9);
}

// X -> XA, y -> y + Xb.
TEST(ExactFit, DependsOnTheSpaceOfTheFixedEffectsAlone) {
  for (const auto& variants : {std::vector<std::size_t>{60}, std::vector<std::size_t>{60, 25}}) {
    Example example(6, 60, 3, variants, Vector(variants.size() + 1, 1));
    const Fit expected = example.fit();
    const Vector a = {1e4, 2, -1, 0.3, 1, 2, 7, -3, 1e-3};
    example.data.x = test::plain_matrix_product(example.data.x, a, 60);
    for (std::size_t i = 0; i < 60; ++i) example.data.y[i] += example.data.x[60 + i];
    expect_same_fit(example.fit(), expected, 1e-8);
  }
}

TEST(ExactFit, HasTheUnitsOfY) {
  for (const auto& variants : {std::vector<std::size_t>{60}, std::vector<std::size_t>{60, 25}}) {
    const std::size_t k = variants.size() + 1;
    Example example(7, 60, 2, variants, Vector(k, 1));
    const Fit expected = example.fit();
    for (const double unit : {0.3, 1e-30, 1e30}) {
      Example scaled = example;
      for (double& value : scaled.data.y) value *= unit;
      const Fit fit = scaled.fit();
      ASSERT_TRUE(fit.converged) << fit.message;
      Vector theta = fit.theta;
      for (double& value : theta) value /= unit * unit;
      expect_near(theta, expected.theta, 1e-8);
      EXPECT_NEAR(fit.log_likelihood + 58 * std::log(unit), expected.log_likelihood, 1e-8);
      Vector information = fit.information;
      for (double& value : information) value *= unit * unit * unit * unit;
      expect_near(information, expected.information, 1e-7);
    }
    // A power of 2 changes no digit.
    for (double& value : example.data.y) value *= 1024;
    const Fit fit = example.fit();
    for (std::size_t j = 0; j < k; ++j) {
      EXPECT_EQ(fit.theta[j], expected.theta[j] * 1024 * 1024);
    }
  }
}

TEST(ExactFit, DoesNotDependOnTheOrderOfSamples) {
  Example example(8, 50, 2, {30, 70}, {1, 1, 1});
  const Fit expected = example.fit();
  std::vector<std::size_t> order(50);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), example.random);
  Example other = example;
  for (std::size_t i = 0; i < 50; ++i) {
    other.data.y[i] = example.data.y[order[i]];
    for (std::size_t j = 0; j < 2; ++j)
      other.data.x[j * 50 + i] = example.data.x[j * 50 + order[i]];
    for (std::size_t g = 0; g < 2; ++g) {
      for (std::size_t j = 0; j < 50; ++j) {
        other.kernels[g][j * 50 + i] = example.kernels[g][order[j] * 50 + order[i]];
      }
    }
  }
  const Fit fit = other.fit();
  expect_same_fit(fit, expected, 1e-8);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_NEAR(fit.residual_projection[i], expected.residual_projection[order[i]], 1e-8);
  }
}

// Families of equal size: REML is the analysis of variance where that has no negative component.
TEST(ExactFit, FamiliesOfEqualSizeHaveTheAnalysisOfVariance) {
  constexpr std::size_t kFamilies = 12;
  constexpr std::size_t kSize = 5;
  constexpr std::size_t n = kFamilies * kSize;
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  int at_bound = 0;
  for (const double between : {2.0, 0.0, 0.0, 0.0, 0.0}) {
    Example example(9, n, 1, {3}, {1, 1});
    double mean = 0;
    for (std::size_t f = 0; f < kFamilies; ++f) {
      const double effect = std::sqrt(between) * normal(random);
      for (std::size_t i = 0; i < kSize; ++i) {
        example.data.y[f * kSize + i] = 10 + effect + normal(random);
        mean += example.data.y[f * kSize + i] / n;
        for (std::size_t j = 0; j < n; ++j) {
          example.kernels[0][(f * kSize + i) * n + j] = j / kSize == f ? 1 : 0;
        }
      }
    }
    double of_families = 0;
    double within = 0;
    for (std::size_t f = 0; f < kFamilies; ++f) {
      double family = 0;
      for (std::size_t i = 0; i < kSize; ++i) family += example.data.y[f * kSize + i] / kSize;
      of_families += kSize * (family - mean) * (family - mean);
      for (std::size_t i = 0; i < kSize; ++i) {
        within += std::pow(example.data.y[f * kSize + i] - family, 2);
      }
    }
    const double mean_between = of_families / (kFamilies - 1);
    const double mean_within = within / (n - kFamilies);
    const Fit fit = example.fit();
    ASSERT_TRUE(fit.converged);
    if (mean_between > mean_within) {
      expect_near(fit.theta, {(mean_between - mean_within) / kSize, mean_within}, 1e-9);
      EXPECT_EQ(fit.at_bound, (std::vector<char>{0, 0}));
    } else {
      expect_near(fit.theta, {0, (of_families + within) / (n - 1)}, 1e-12);
      EXPECT_EQ(fit.at_bound, (std::vector<char>{1, 0}));
      EXPECT_NEAR(fit.log_likelihood, fit.log_likelihood_null, 1e-9);
    }
    at_bound += fit.at_bound[0];
    // Without a bound the analysis of variance holds anyway.
    example.settings.lower[0] = -kInfinity;
    expect_near(example.fit().theta, {(mean_between - mean_within) / kSize, mean_within}, 1e-9);
    EXPECT_NEAR(fit.coefficients[0], mean, 1e-9);
  }
  EXPECT_GE(at_bound, 1);
  EXPECT_LE(at_bound, 4);
}

// Likelihoods that often have two maxima: the search must find the larger one. The peaks are found
// by evaluation of the profile over h.
TEST(ExactFit, FindsTheLargestOfSeveralMaxima) {
  int several = 0;
  std::mt19937 random(13);
  std::uniform_real_distribution<double> power(-2, 2);
  for (int trial = 0; trial < 80; ++trial) {
    constexpr std::size_t n = 11;
    Example example(13, n, 0, {3}, {1, 1});
    example.data.y = test::random_matrix(random, n, 1);
    example.kernels[0].assign(n * n, 0);
    for (std::size_t i = 0; i < 5; ++i) {
      example.kernels[0][i * (n + 1)] = std::pow(10, power(random));
      example.data.y[i] *= std::pow(10, power(random) / 2);
    }
    const Fit fit = example.fit();
    ASSERT_TRUE(fit.converged) << fit.message;
    Vector profile;
    std::vector<Vector> thetas;
    const double mean = test::plain_trace(example.kernels[0], n) / n;
    for (int i = 0; i < 600; ++i) thetas.push_back({i / 600.0 / mean, 1 - i / 600.0});
    MatrixKernels kernels = example.wrapped();
    for (const auto& at :
         likelihoods_at(example.data, kernels, thetas, false, {*example.control, 2})) {
      // With the best multiple of theta.
      profile.push_back(at.log_likelihood + 0.5 * at.quadratic -
                        0.5 * n * (1 + std::log(at.quadratic / n)));
    }
    int peaks = 0;
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const bool rises = i > 0 && profile[i] <= profile[i - 1];
      const bool falls = i + 1 < profile.size() && profile[i + 1] >= profile[i];
      peaks += !rises && !falls ? 1 : 0;
    }
    several += peaks > 1 ? 1 : 0;
    EXPECT_GE(fit.log_likelihood, *std::max_element(profile.begin(), profile.end()) - 1e-9);
  }
  EXPECT_GT(several, 10);
}

TEST(ExactFit, SeveralKernelsAreNotBeatenByAnyPoint) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Example example(seed, 30, 1, {8, 40}, {0.5, 0.2, 1});
    const Fit fit = example.fit();
    ASSERT_TRUE(fit.converged) << fit.message;
    const double total = fit.theta[0] + fit.theta[1] + fit.theta[2];
    std::vector<Vector> thetas;
    for (double a = 0; a < 2; a += 0.2) {
      for (double b = 0; b < 2; b += 0.2) {
        for (double e = 0.02; e < 2; e += 0.2) thetas.push_back({a * total, b * total, e * total});
      }
    }
    MatrixKernels kernels = example.wrapped();
    for (const auto& at :
         likelihoods_at(example.data, kernels, thetas, false, {*example.control, 2})) {
      ASSERT_LE(at.log_likelihood, fit.log_likelihood + 1e-9) << seed;
    }
  }
}

TEST(ExactFit, BoundsHoldAndAreFlagged) {
  // The second kernel does not contribute to y.
  int flagged = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Example example(seed, 80, 1, {100, 300}, {1, 0, 1});
    const Fit fit = example.fit();
    ASSERT_TRUE(fit.converged) << fit.message;
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_GE(fit.theta[j], 0);
      EXPECT_EQ(fit.at_bound[j] != 0, fit.theta[j] == 0);
      if (fit.theta[j] == 0) {
        EXPECT_LT(fit.score[j], 0);
      }
    }
    flagged += fit.at_bound[1];
    example.settings.lower = {-kInfinity, -kInfinity, kUnset};
    const Fit free = example.fit();
    ASSERT_TRUE(free.converged) << free.message;
    EXPECT_GE(free.log_likelihood, fit.log_likelihood - 1e-9);
    if (fit.at_bound[1] != 0) {
      EXPECT_LT(free.theta[1], 0);
    }
    example.settings.lower = {2, 0.3, kUnset};
    const Fit bounded = example.fit();
    EXPECT_GE(bounded.theta[0], 2);
    EXPECT_GE(bounded.theta[1], 0.3);
    EXPECT_LE(bounded.log_likelihood, fit.log_likelihood + 1e-9);
  }
  EXPECT_GT(flagged, 2);
}

TEST(ExactFit, AStartIsUsed) {
  Example example(4, 60, 1, {50, 70}, {1, 1, 1});
  const Fit expected = example.fit();
  example.settings.start = {3, 0.1, 0.5};
  const Fit fit = example.fit();
  EXPECT_EQ(fit.iterations.front().theta, example.settings.start);
  expect_same_fit(fit, expected, 1e-8);
  example.settings.lower = {-kInfinity, -kInfinity, kUnset};
  example.settings.start = {-3, 0.1, 0.5};
  EXPECT_TRUE(contains(error_of(example), "`start` is -3, 0.1, 0.5"));
}

TEST(ExactFit, AnIterationLimitIsSaid) {
  Example example(4, 60, 1, {50, 70}, {1, 1, 1});
  example.settings.max_iterations = 2;
  const Fit fit = example.fit();
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.status, "iterations");
  EXPECT_TRUE(contains(fit.message, "limit of 2 iterations")) << fit.message;
  EXPECT_EQ(fit.iterations.size(), 3U);
}

// Genotypes explain all of y: the residual is at its bound.
TEST(ExactFit, ResidualMeetsItsBound) {
  for (const auto& variants : {std::vector<std::size_t>{5}, std::vector<std::size_t>{5, 8}}) {
    Vector theta(variants.size() + 1, 1);
    theta.back() = 0;
    Example example(11, 40, 1, variants, theta);
    const Fit fit = example.fit();
    EXPECT_TRUE(fit.converged) << fit.message << " " << fit.iterations.back().decrement;
    EXPECT_EQ(fit.at_bound.back(), 1);
    EXPECT_GT(fit.theta[0], 0);
    for (const double value : fit.coefficients_covariance) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(ExactFit, OneVariantIsEnough) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Example example(seed, 30, 1, {1}, {2, 1});
    const Fit fit = example.fit();
    EXPECT_TRUE(fit.converged) << fit.message;
    EXPECT_TRUE(std::isfinite(fit.log_likelihood));
  }
}

TEST(ExactFit, BadDataAreNamed) {
  const Example good(1, 20, 2, {30, 40}, {1, 1, 1});
  Example bad = good;
  std::fill(bad.data.y.begin(), bad.data.y.end(), 7.1);
  EXPECT_TRUE(contains(error_of(bad), "y has no variance"));
  for (std::size_t i = 0; i < 20; ++i) bad.data.y[i] = 1e5 + 3 * bad.data.x[20 + i];
  EXPECT_TRUE(contains(error_of(bad), "y has no variance"));
  bad = good;
  bad.data.y[3] = kUnset;
  EXPECT_TRUE(contains(error_of(bad), "y has a value that is not finite"));
  bad = good;
  bad.data.x[25] = kInfinity;
  EXPECT_TRUE(contains(error_of(bad), "fixed effects have a value"));
  bad = good;
  for (std::size_t i = 0; i < 20; ++i) bad.data.x.push_back(1 - 2 * bad.data.x[20 + i]);
  EXPECT_TRUE(contains(error_of(bad), "column 3 of the fixed effects"));
  bad = good;
  bad.data.x = test::random_matrix(bad.random, 20, 20);
  EXPECT_TRUE(contains(error_of(bad), "20 fixed effects, but 20 samples"));
  bad = good;
  for (double& value : bad.data.y) value *= 1e80;
  EXPECT_TRUE(contains(error_of(bad), "too large or too small"));
}

TEST(ExactFit, BadKernelsAreNamed) {
  const Example good(1, 20, 2, {30, 40}, {1, 1, 1});
  Example bad = good;
  bad.data.names = {"first", "second"};
  for (std::size_t i = 0; i < 20; ++i) bad.kernels[1][i * 21] -= 0.6;
  EXPECT_TRUE(contains(error_of(bad), "'second' has the negative eigenvalue -")) << error_of(bad);
  bad.kernels = {bad.kernels[1]};
  bad.settings.lower.resize(2);
  EXPECT_TRUE(contains(error_of(bad), "'first' has the negative eigenvalue -")) << error_of(bad);
  bad = good;
  bad.kernels[1] = bad.kernels[0];
  for (std::size_t i = 0; i < 20; ++i) bad.kernels[1][i * 21] += 2;
  EXPECT_TRUE(contains(error_of(bad), "component 2 is a sum of multiples")) << error_of(bad);
  for (std::size_t i = 0; i < 400; ++i) bad.kernels[0][i] = i % 21 == 0 ? 3 : 0;
  EXPECT_TRUE(contains(error_of(bad), "component 1 is a sum of multiples")) << error_of(bad);
  bad.kernels.pop_back();
  bad.settings.lower.resize(2);
  EXPECT_TRUE(contains(error_of(bad), "component 1 is a sum of multiples")) << error_of(bad);
  bad.kernels[0].assign(400, 1);  // in the span of X
  EXPECT_TRUE(contains(error_of(bad), "no variance beyond the fixed effects")) << error_of(bad);
  bad = good;
  bad.kernels[1][43] = kUnset;
  EXPECT_TRUE(
      contains(error_of(bad), "component 2 has a value that is not finite in row 4, column 3"));
}

// Two samples leave one degree of freedom, or none, so a kernel cannot be distinguished from the
// residual.
TEST(ExactFit, TwoSamplesAreTooFew) {
  for (const std::size_t p : {0, 1}) {
    for (unsigned seed = 1; seed < 20; ++seed) {
      Example example(seed, 2, p, {1}, {1, 1});
      const std::string error = error_of(example);
      if (p == 1) {
        EXPECT_TRUE(contains(error, "is a sum of multiples")) << error;
      } else {
        const Fit fit = example.fit();
        for (const double value : fit.theta) EXPECT_TRUE(std::isfinite(value));
        EXPECT_TRUE(fit.converged);
      }
    }
  }
}

TEST(ExactFit, AStopRequestIsSeen) {
  Example example(1, 60, 1, {30, 40}, {1, 1, 1});
  example.control->request_stop();
  EXPECT_THROW(example.fit(), Interrupted);
  example.kernels.pop_back();
  example.settings.lower.pop_back();
  EXPECT_THROW(example.fit(), Interrupted);
}

// Blocks of columns are used from 33 columns on, and from 129 on.
TEST(ExactFit, LargerProblemsAgreeWithExplicitInverses) {
  for (const auto& variants : {std::vector<std::size_t>{100}, std::vector<std::size_t>{100, 400}}) {
    Example example(12, 300, 2, variants, Vector(variants.size() + 1, 1));
    const Vector theta(variants.size() + 1, 0.8);
    const PlainReml expected = example.plain(theta);
    const LikelihoodAt found = example.at(theta);
    EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, 1e-9);
    expect_near(found.derivatives.score, expected.score, 1e-10);
    expect_near(found.derivatives.average, expected.average, 1e-10);
    expect_near(found.derivatives.expected, expected.expected, 1e-10);
  }
}

}  // namespace
}  // namespace ancify::reml
