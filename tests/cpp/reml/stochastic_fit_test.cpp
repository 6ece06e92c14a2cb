// Checks stochastic fits against dense REML, their errors against the spread over seeds, and that
// their bytes depend on neither threads nor stops.
#include "core/reml/stochastic/stochastic_fit.h"

#include <cmath>

#include "core/reml/exact/exact_fit.h"
#include "core/reml/fit/steps.h"
#include "core/reml/solvers/probes.h"
#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"
#include "support.h"

namespace ancify::reml {
namespace {

using test::RemlData;
using test::Vector;

StochasticSettings settings_for(const RemlData& data) {
  StochasticSettings settings;
  settings.search.lower.assign(data.kernels.size() + 1, std::nan(""));
  settings.search.tolerance = 1e-4;
  return settings;
}

Fit fit(const RemlData& data, const StochasticSettings& settings, int threads = 1,
        const Checkpoint& checkpoint = {}) {
  JobControl control;
  MatrixKernels kernels(static_cast<std::int64_t>(data.samples()), test::DenseModel::pointers(data),
                        control);
  return fit_stochastic(data.fit(), kernels, settings, checkpoint, control, threads);
}

// The standard errors of a fit.
Vector standard_errors(const Fit& fit) {
  const Vector inverse = free_inverse(fit.information, fit.at_bound);
  Vector result;
  for (std::size_t i = 0; i < fit.theta.size(); ++i) {
    result.push_back(std::sqrt(inverse[i * (fit.theta.size() + 1)]));
  }
  return result;
}

Vector monte_carlo_errors(const Fit& fit) {
  const std::size_t k = fit.theta.size();
  const Vector inverse = free_inverse(fit.information, fit.at_bound);
  const Vector covariance =
      test::plain_product(test::plain_product(inverse, fit.mc_score, k), inverse, k);
  Vector result;
  for (std::size_t i = 0; i < k; ++i) result.push_back(std::sqrt(covariance[i * (k + 1)]));
  return result;
}

void expect_near(const Vector& found, const Vector& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double size = 0;
  for (const double value : expected) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance * size) << i;
  }
}

// A fit with exact traces must be at a maximum of the plain likelihood, and have all its
// derivatives there.
void expect_exact(const RemlData& data, const Fit& found) {
  const test::PlainReml plain(data.y, data.x, data.kernels, found.theta);
  EXPECT_TRUE(found.converged) << found.status << " " << found.message;
  const Vector inverse = free_inverse(plain.average, found.at_bound);
  const std::size_t k = found.theta.size();
  for (std::size_t i = 0; i < k; ++i) {
    // Newton's step from here, as a share of the standard error.
    double step = 0;
    for (std::size_t j = 0; j < k; ++j) step += inverse[i * k + j] * plain.score[j];
    const double se = std::sqrt(inverse[i * k + i]);
    if (found.at_bound[i] == 0) {
      EXPECT_LT(std::abs(step), 1e-8 * se);
    }
    EXPECT_NEAR(found.score[i], plain.score[i], 1e-9 * std::sqrt(plain.average[i * k + i]));
  }
  expect_near(found.information, plain.average, 1e-9);
  EXPECT_NEAR(found.log_likelihood, plain.log_likelihood, 1e-9 * std::abs(plain.log_likelihood));
  EXPECT_EQ(found.mc_log_likelihood, 0);
  expect_near(found.mc_score, Vector(k * k, 0), 0);
  expect_near(found.residual_projection, plain.py, 1e-8);
  expect_near(found.coefficients, plain.coefficients, 1e-8);
  expect_near(found.coefficients_covariance, plain.covariance, 1e-8);
  for (std::size_t g = 0; g + 1 < k; ++g) {
    Vector values = test::plain_product(data.kernels[g], plain.py, data.samples());
    for (double& value : values) value *= found.theta[g];
    const auto begin = found.genetic.begin() + static_cast<std::ptrdiff_t>(g * data.samples());
    expect_near(Vector(begin, begin + static_cast<std::ptrdiff_t>(data.samples())), values, 1e-8);
  }
}

// Settings with n - p orthogonal probes and solves that go on to the end.
StochasticSettings exact_settings(const RemlData& data) {
  const test::DenseModel dense(data);
  StochasticSettings settings = settings_for(data);
  settings.search.tolerance = 1e-20;
  settings.matrix = dense.fixed.orthogonal_probes();
  return settings;
}

TEST(OneComponent, WithOrthogonalProbesIsExact) {
  for (const std::size_t size : {1, 4}) {
    const RemlData data = test::make_data(11, 60, 80, size, {0.5, 0.5});
    const Fit found = fit(data, exact_settings(data));
    expect_exact(data, found);
    EXPECT_EQ(found.probes, 58);
  }
}

// Over seeds, theta's mean must equal the fit with exact traces. Its standard deviation must be
// mc_se, and the log-likelihood's mc_log_likelihood.
void expect_honest_errors(const RemlData& data, const StochasticSettings& settings) {
  constexpr int kSeeds = 100;
  StochasticSettings exact = exact_settings(data);
  const Fit truth = fit(data, exact);
  const std::size_t k = truth.theta.size();
  const test::PlainReml plain(data.y, data.x, data.kernels, truth.theta);
  Vector sum(k + 1);
  Vector squares(k + 1);
  Vector claimed(k + 1);
  for (int seed = 1; seed <= kSeeds; ++seed) {
    StochasticSettings own = settings;
    own.seed = static_cast<std::uint64_t>(seed);
    const Fit found = fit(data, own);
    ASSERT_EQ(found.status, "max_probes") << found.message;
    Vector errors = monte_carlo_errors(found);
    Vector off;
    for (std::size_t i = 0; i < k; ++i) off.push_back(found.theta[i] - truth.theta[i]);
    errors.push_back(found.mc_log_likelihood);
    off.push_back(found.log_likelihood - plain.log_likelihood);
    for (std::size_t i = 0; i <= k; ++i) {
      sum[i] += off[i] / kSeeds;
      squares[i] += off[i] * off[i] / kSeeds;
      claimed[i] += errors[i] * errors[i] / kSeeds;
    }
  }
  const Vector se = standard_errors(truth);
  for (std::size_t i = 0; i <= k; ++i) {
    const double sd = std::sqrt(squares[i] - sum[i] * sum[i]);
    const double ratio = sd / std::sqrt(claimed[i]);
    EXPECT_GT(ratio, 0.8) << i;
    EXPECT_LT(ratio, 1.25) << i;
    if (i < k) {
      // Newton's second order leaves a bias of the square of the error.
      EXPECT_LT(std::abs(sum[i]), 3 * sd / std::sqrt(kSeeds) + sd * sd / se[i]) << i;
    }
  }
}

TEST(OneComponent, ErrorsEqualTheSpreadOverSeeds) {
  for (const std::size_t size : {1, 4}) {
    const RemlData data = test::make_data(12, 120, 200, size, {0.5, 0.5});
    StochasticSettings settings = settings_for(data);
    settings.max_probes = 32;
    settings.mc_tolerance = 1e-3;
    expect_honest_errors(data, settings);
  }
}

TEST(SeveralComponents, WithOrthogonalProbesAreExact) {
  for (const Vector& theta : {Vector{0.5, 0.3, 0.5}, Vector{0.2, 0.1, 0.3, 0.2, 0.3, 0.5}}) {
    for (const std::size_t size : {1, 4}) {
      const RemlData data = test::make_data(13, 60, 80, size, theta);
      const Fit found = fit(data, exact_settings(data));
      expect_exact(data, found);
    }
  }
}

TEST(SeveralComponents, ErrorsEqualTheSpreadOverSeeds) {
  // Steps to the maximum use the observed information, and reported errors the average information.
  // Among few samples they differ, but here they are near each other.
  for (const std::size_t size : {4, 6}) {
    const RemlData data = test::make_data(14, 120, 100, size, {0.4, 0.4, 0.3});
    StochasticSettings settings = settings_for(data);
    settings.max_probes = 32;
    settings.mc_tolerance = 1e-3;
    expect_honest_errors(data, settings);
  }
}

TEST(StochasticFit, AddsProbesUntilTheErrorIsSmall) {
  for (const Vector& theta : {Vector{0.5, 0.5}, Vector{0.4, 0.3, 0.5}}) {
    const RemlData data = test::make_data(15, 300, 500, 2, theta);
    StochasticSettings settings = settings_for(data);
    settings.max_probes = 250;
    settings.mc_tolerance = 0.1;
    const Fit found = fit(data, settings);
    EXPECT_EQ(found.status, "converged");
    EXPECT_GT(found.probes, 16);
    const Vector se = standard_errors(found);
    const Vector mc = monte_carlo_errors(found);
    for (std::size_t i = 0; i < theta.size(); ++i) EXPECT_LE(mc[i], 0.12 * se[i]);
    settings.mc_tolerance = 1e-4;
    const Fit capped = fit(data, settings);
    EXPECT_EQ(capped.probes, 250);
    EXPECT_EQ(capped.status, "max_probes");
    EXPECT_FALSE(capped.converged);
    EXPECT_NE(capped.message, "");
    // All n - p orthogonal probes are exact.
    settings.max_probes = 1000;
    const Fit exact = fit(data, settings);
    EXPECT_EQ(exact.probes, 298);
    for (const double value : monte_carlo_errors(exact)) EXPECT_LE(value, 1.3e-4 * se[0]);
  }
}

// From a distant start, the sketch may be renewed after the last step of a search.
TEST(SeveralComponents, EndAtTheSameMaximumFromAnyStart) {
  const RemlData data = test::make_data(18, 300, 400, 5, {0.6, 0.3, 0.2});
  JobControl control;
  MatrixKernels kernels(300, test::DenseModel::pointers(data), control);
  SearchSettings search;
  search.lower.assign(3, std::nan(""));
  const Fit exact = fit_exact(data.fit(), kernels, search, {control, 2});
  const double genetic = exact.theta[0] + exact.theta[1];
  for (const double shift : {0.19, 0.2}) {
    for (const std::uint64_t seed : {1U, 3U, 5U}) {
      StochasticSettings settings = settings_for(data);
      settings.rank = 50;
      settings.max_probes = 200;
      settings.mc_tolerance = 0.1;
      settings.seed = seed;
      settings.search.start = {exact.theta[0] - shift * genetic, exact.theta[1] + shift * genetic,
                               exact.theta[2]};
      const Fit found = fit(data, settings);
      ASSERT_TRUE(found.converged) << found.status;
      const Vector mc = monte_carlo_errors(found);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(found.theta[i], exact.theta[i], 5 * mc[i]) << shift << " " << seed << " " << i;
      }
    }
  }
}

void expect_equal(const Fit& a, const Fit& b) {
  EXPECT_EQ(a.theta, b.theta);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.information, b.information);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.mc_log_likelihood, b.mc_log_likelihood);
  EXPECT_EQ(a.mc_score, b.mc_score);
  EXPECT_EQ(a.at_bound, b.at_bound);
  EXPECT_EQ(a.converged, b.converged);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.passes, b.passes);
  EXPECT_EQ(a.probes, b.probes);
  EXPECT_EQ(a.coefficients, b.coefficients);
  EXPECT_EQ(a.coefficients_covariance, b.coefficients_covariance);
  EXPECT_EQ(a.residual_projection, b.residual_projection);
  EXPECT_EQ(a.genetic, b.genetic);
  ASSERT_EQ(a.iterations.size(), b.iterations.size());
  for (std::size_t i = 0; i < a.iterations.size(); ++i) {
    EXPECT_EQ(a.iterations[i].decrement, b.iterations[i].decrement);
    EXPECT_EQ(a.iterations[i].probes, b.iterations[i].probes);
    EXPECT_EQ(a.iterations[i].step, b.iterations[i].step);
    EXPECT_EQ(a.iterations[i].theta, b.iterations[i].theta);
  }
}

// Models with batches of probes, with orthogonal ones that the fit chooses, and without bounds.
struct Variety {
  Vector theta;
  std::size_t samples;
  int max_probes;
  double lower;
};

class StochasticFits : public testing::TestWithParam<Variety> {
 public:
  StochasticFits()
      : data_(test::make_data(16, GetParam().samples, 300, 3, GetParam().theta)),
        settings_(settings_for(data_)) {
    settings_.max_probes = GetParam().max_probes;
    settings_.columns = 24;
    settings_.mc_tolerance = 0.01;
    for (std::size_t g = 0; g + 1 < GetParam().theta.size(); ++g) {
      settings_.search.lower[g] = GetParam().lower;
    }
  }

  RemlData data_;
  StochasticSettings settings_;
};

TEST_P(StochasticFits, HaveEqualBytesAtAnyNumberOfThreads) {
  const Fit one = fit(data_, settings_, 1);
  expect_equal(fit(data_, settings_, 2), one);
  expect_equal(fit(data_, settings_, 8), one);
}

TEST_P(StochasticFits, GoOnFromACheckpointToTheSameBytes) {
  std::vector<StochasticState> states;
  Checkpoint saving;
  saving.save = [&](const StochasticState& state) { states.push_back(state); };
  const Fit whole = fit(data_, settings_, 1, saving);
  EXPECT_GE(states.size(), 2U);
  for (const StochasticState& state : states) {
    Checkpoint from;
    from.from = &state;
    expect_equal(fit(data_, settings_, 1, from), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StochasticFits,
                         testing::Values(Variety{{0.5, 0.5}, 300, 120, 0},
                                         Variety{{0.5, 0.5}, 100, 120, 0},
                                         Variety{{0.4, 0.3, 0.5}, 300, 120, 0},
                                         Variety{{0.4, 0.3, 0.5}, 100, 120, 0},
                                         Variety{{0.4, 0, 0.5}, 300, 60, -HUGE_VAL}));

TEST(StochasticFit, AComponentAtItsBoundIsFlagged) {
  for (const Vector& theta : {Vector{0, 1}, Vector{0.4, 0, 0.5}}) {
    int flagged = 0;
    for (unsigned seed = 31; seed < 37; ++seed) {
      const RemlData data = test::make_data(seed, 60, 80, 1, theta);
      const Fit found = fit(data, exact_settings(data));
      expect_exact(data, found);
      for (std::size_t g = 0; g < theta.size(); ++g) {
        flagged += found.at_bound[g];
        if (found.at_bound[g] == 0) continue;
        EXPECT_LT(found.theta[g], 1e-5);
        EXPECT_LT(found.score[g], 0);
      }
    }
    EXPECT_GT(flagged, 0);
  }
}

TEST(StochasticFit, WithoutABoundAVarianceMayBeNegative) {
  int negative = 0;
  for (const Vector& theta : {Vector{0, 1}, Vector{0.4, 0, 0.5}}) {
    for (unsigned seed = 31; seed < 37; ++seed) {
      const RemlData data = test::make_data(seed, 60, 80, 1, theta);
      StochasticSettings settings = exact_settings(data);
      for (std::size_t g = 0; g + 1 < theta.size(); ++g) settings.search.lower[g] = -HUGE_VAL;
      const Fit found = fit(data, settings);
      expect_exact(data, found);
      for (const double value : found.theta) negative += value < 0 ? 1 : 0;
    }
  }
  EXPECT_GT(negative, 0);
}

TEST(StochasticFit, FewSamplesHaveExactTraces) {
  for (const Vector& theta : {Vector{0.5, 0.5}, Vector{0.4, 0.3, 0.5}}) {
    const RemlData data = test::make_data(17, 20, 80, 2, theta);
    StochasticSettings settings = settings_for(data);
    settings.search.tolerance = 1e-20;
    const Fit found = fit(data, settings);
    expect_exact(data, found);
    EXPECT_EQ(found.probes, 18);
  }
}

TEST(StochasticFit, KeepsTheUnitsOfTheResponse) {
  for (const Vector& theta : {Vector{0.5, 0.5}, Vector{0.4, 0.3, 0.5}}) {
    RemlData data = test::make_data(18, 150, 80, 2, theta);
    const Fit found = fit(data, settings_for(data));
    const double unit = std::exp2(-100);
    for (double& value : data.y) value *= unit;
    const Fit scaled = fit(data, settings_for(data));
    for (std::size_t i = 0; i < theta.size(); ++i) {
      EXPECT_EQ(scaled.theta[i], found.theta[i] * unit * unit);
      EXPECT_EQ(scaled.score[i], found.score[i] / unit / unit);
    }
    EXPECT_EQ(scaled.coefficients[1], found.coefficients[1] * unit);
    EXPECT_NEAR(scaled.log_likelihood, found.log_likelihood + 148 * 100 * std::log(2), 1e-6);
    EXPECT_NEAR(scaled.log_likelihood_null, found.log_likelihood_null + 148 * 100 * std::log(2),
                1e-6);
  }
}

TEST(StochasticFit, OneComponentHasExpectedInformationIfAsked) {
  const RemlData data = test::make_data(19, 60, 80, 2, {0.5, 0.5});
  StochasticSettings settings = exact_settings(data);
  settings.search.expected = true;
  const Fit found = fit(data, settings);
  const test::PlainReml plain(data.y, data.x, data.kernels, found.theta);
  expect_near(found.information, plain.expected, 1e-9);
  const RemlData several = test::make_data(19, 60, 80, 2, {0.5, 0.5, 0.5});
  settings.matrix.clear();
  settings.search.lower.assign(3, 0);
  EXPECT_EQ(ancify::test::message_of<InputError>([&] { fit(several, settings); }),
            "expected information of several components needs the exact method; use average "
            "information");
}

TEST(StochasticFit, NamesAKernelThatIsBad) {
  const auto message = [](const RemlData& data) {
    return ancify::test::message_of<InputError>([&] { fit(data, settings_for(data)); });
  };
  for (const Vector& theta : {Vector{0.5, 0.5}, Vector{0.5, 0.5, 0.5}}) {
    const RemlData data = test::make_data(20, 90, 120, 1, theta);
    const std::string kernel = "the kernel of component " + std::to_string(theta.size() - 1);
    RemlData bad = data;
    for (std::size_t i = 0; i < 90; ++i) bad.kernels.back()[i * 91] += i % 2 == 0 ? 5 : -5;
    EXPECT_EQ(message(bad).substr(0, kernel.size() + 29), kernel + " has the negative eigenvalue ");
    bad = data;
    bad.kernels.back().assign(90 * 90, 1);
    EXPECT_EQ(message(bad), kernel + " has no variance beyond the fixed effects; leave it out");
    bad = data;
    for (std::size_t i = 0; i < 90 * 90; ++i) bad.kernels.back()[i] = i % 91 == 0 ? 1 : 0;
    EXPECT_NE(message(bad).find("cannot be told apart"), std::string::npos) << message(bad);
  }
}

TEST(StochasticFit, AnIterationLimitIsSaid) {
  const RemlData data = test::make_data(20, 90, 120, 1, {0.5, 0.3, 0.5});
  StochasticSettings settings = settings_for(data);
  settings.search.start = {0.01, 3, 0.1};
  settings.search.max_iterations = 1;
  const Fit found = fit(data, settings);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.status, "iterations");
  EXPECT_EQ(found.message, "the limit of 1 iterations was reached; raise `max_iterations`");
}

// Kernels that request a stop at their tenth pass.
class StoppingKernels : public MatrixKernels {
 public:
  StoppingKernels(const RemlData& data, JobControl& control)
      : MatrixKernels(static_cast<std::int64_t>(data.samples()), test::DenseModel::pointers(data),
                      control),
        control_(control) {}
  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override {
    if (passes() >= 10) control_.request_stop();
    MatrixKernels::times(theta, v, columns, precision, out);
  }

 private:
  JobControl& control_;
};

TEST(StochasticFit, StopsBeforeTheNextPass) {
  for (const Vector& theta : {Vector{0.5, 0.5}, Vector{0.5, 0.5, 0.5}}) {
    const RemlData data = test::make_data(20, 90, 120, 1, theta);
    JobControl control;
    StoppingKernels kernels(data, control);
    EXPECT_THROW(fit_stochastic(data.fit(), kernels, settings_for(data), {}, control, 2),
                 Interrupted);
    EXPECT_EQ(kernels.passes(), 10);
  }
}

}  // namespace
}  // namespace ancify::reml
