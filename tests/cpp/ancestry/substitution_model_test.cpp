// Checks substitution models against their equations.
#include "core/ancestry/phylogeny/substitution_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "core/exec/errors.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

void expect_as_by_series(const SubstitutionRates& rates) {
  const SubstitutionModel model(rates);
  for (const double t : {0.0, 1e-12, 1e-6, 0.001, 0.1, 1.0, 7.0, 1000.0}) {
    const auto expected = test::transitions_by_series(rates, t);
    const auto found = model.transitions(t);
    for (std::size_t i = 0; i < kBases; ++i) {
      for (std::size_t j = 0; j < kBases; ++j) {
        const auto p = static_cast<double>(expected[i][j]);
        EXPECT_NEAR(found[i][j], p, 3e-14) << t;
        if (i == j) continue;  // on short branches the relative error must be small, too
        EXPECT_NEAR(found[i][j], p, 1e-13 * (p + t)) << t;
      }
    }
  }
}

TEST(SubstitutionModel, IsTheExponentialOfItsRates) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) expect_as_by_series(test::random_rates(random));
  SubstitutionRates rates;
  expect_as_by_series(rates);  // with equal eigenvalues
  rates.exchangeabilities = {1, 4, 1, 1, 4, 1};
  expect_as_by_series(rates);
  rates.exchangeabilities = {0, 1, 0, 0, 1, 0};  // two separate sets of bases
  expect_as_by_series(rates);
  rates.exchangeabilities = {1, 1e5, 1e-5, 2, 3, 4};
  rates.frequencies = {0.001, 0.499, 0.4, 0.1};
  expect_as_by_series(rates);
}

TEST(SubstitutionModel, IsJukesAndCantors) {
  const SubstitutionModel model{SubstitutionRates{}};
  for (const double t : {0.01, 0.5, 3.0}) {
    const auto p = model.transitions(t);
    EXPECT_NEAR(p[0][0], 0.25 + 0.75 * std::exp(-4 * t / 3), 1e-15);
    EXPECT_NEAR(p[2][1], 0.25 - 0.25 * std::exp(-4 * t / 3), 1e-15);
  }
}

TEST(SubstitutionModel, NoTimeChangesNothing) {
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    const auto p = SubstitutionModel(test::random_rates(random)).transitions(0);
    for (std::size_t i = 0; i < kBases; ++i) {
      for (std::size_t j = 0; j < kBases; ++j) EXPECT_EQ(p[i][j], i == j ? 1 : 0);
    }
  }
}

// Values by R: q <- qgamma((0:4) / 4, a, a); 4 * diff(pgamma(q * a, a + 1)).
TEST(GammaRates, AreYangs) {
  const std::vector<std::pair<double, std::vector<double>>> expected = {
      {0.05, {5.06253513325302e-13, 1.06169035039333e-06, 0.00529932389425158, 3.99469961441489}},
      {0.3, {0.00529530640559561, 0.104495108584439, 0.595802837611588, 3.29440674739838}},
      {0.5, {0.0333877533835996, 0.251915917593438, 0.820268481973651, 2.89442784704931}},
      {1, {0.136953782644657, 0.476751856235452, 1, 2.38629436111989}},
      {2.7, {0.364633999520435, 0.713437461975738, 1.08057246564008, 1.84135607286375}},
      {20, {0.731803179017826, 0.913846284939437, 1.05766897658746, 1.29668155945527}},
      {500, {0.943740242459098, 0.984914615384889, 1.01394240087235, 1.05740274128367}},
      {0.8,
       {0.0561211796846717, 0.22584256973, 0.472075417904862, 0.828259864738707, 1.4051429938812,
        3.01255797406056}}};
  for (const auto& [alpha, rates] : expected) {
    const auto found = gamma_rates(alpha, static_cast<int>(rates.size()));
    ASSERT_EQ(found.size(), rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(found[i], rates[i], 2e-11 * rates[i]) << alpha;
    }
  }
}

// With shape 1 the gamma distribution is exponential, and the means of its classes are simple.
TEST(GammaRates, OfShapeOneAreThoseOfTheExponential) {
  for (const int n : {1, 2, 4, 16, 100}) {
    const auto rates = gamma_rates(1, n);
    const auto rest = [&](int i) {  // the integral of x over the density above the i-th quantile
      const double share = 1 - static_cast<double>(i) / n;
      return share == 0 ? 0 : share * (1 - std::log(share));
    };
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(rates[static_cast<std::size_t>(i)], n * (rest(i) - rest(i + 1)), 1e-12 * n);
    }
  }
}

TEST(GammaRates, ShareBelowIsThatOfTheDistribution) {  // values by R's pgamma
  EXPECT_NEAR(gamma_share_below(0.1, 0.01), 0.6626212599544798, 1e-14);
  EXPECT_NEAR(gamma_share_below(0.5, 2), 0.9544997361036416, 1e-14);
  EXPECT_NEAR(gamma_share_below(3, 1), 0.08030139707139419, 1e-14);
  EXPECT_NEAR(gamma_share_below(3, 10), 0.9972306042844884, 1e-14);
  EXPECT_NEAR(gamma_share_below(100, 90), 0.1582209891864302, 1e-13);
  EXPECT_NEAR(gamma_share_below(1e4, 10100), 0.8413487504471797, 1e-11);
  EXPECT_EQ(gamma_share_below(2, 0), 0);
}

TEST(SubstitutionModel, ItsMeanRateIsOne) {
  for (const double alpha : {0.001, 0.05, 0.5, 3.0, 1000.0}) {
    for (const int n : {1, 4, 8}) {
      for (const double invariant : {0.0, 0.3}) {
        SubstitutionRates rates;
        rates.alpha = alpha;
        rates.n_rates = n;
        rates.invariant = invariant;
        const SubstitutionModel model(rates);
        EXPECT_EQ(model.rate_classes().size(), static_cast<std::size_t>(n) + (invariant > 0));
        double mean = 0;
        double all = 0;
        for (const auto& [rate, share] : model.rate_classes()) {
          EXPECT_GE(rate, 0);
          mean += rate * share;
          all += share;
        }
        EXPECT_NEAR(mean, 1, 1e-12);
        EXPECT_NEAR(all, 1, 1e-12);
      }
    }
  }
}

TEST(SubstitutionModel, ScalesFrequenciesThatNearlySumToOne) {
  SubstitutionRates rates;
  rates.frequencies = {0.1, 0.2, 0.3, 0.405};
  EXPECT_NEAR(SubstitutionModel(rates).frequencies()[1], 0.2 / 1.005, 1e-15);
}

TEST(SubstitutionModel, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](auto change, const std::string& part) {
    SubstitutionRates rates;
    change(rates);
    const auto message = test::message_of<InputError>([&] { SubstitutionModel model(rates); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  using Rates = SubstitutionRates;
  refuses([](Rates& r) { r.exchangeabilities[4] = -1; }, "rate CT is -1");
  refuses([&](Rates& r) { r.exchangeabilities[0] = nan; }, "rate AC is nan");
  refuses([](Rates& r) { r.exchangeabilities.fill(0); }, "all 0");
  refuses([](Rates& r) { r.frequencies = {0.25, 0.25, 0.25, 0.27}; }, "is 1.02; it must be 1");
  refuses([](Rates& r) { r.frequencies = {0.5, 0.5, 0, 0}; }, "frequency of G is 0");
  refuses([&](Rates& r) { r.frequencies[3] = nan; }, "frequency of T is nan");
  refuses([](Rates& r) { r.alpha = 0; }, "alpha");
  refuses([](Rates& r) { r.alpha = 1e17; }, "alpha");
  refuses([](Rates& r) { r.n_rates = 101; }, "rate classes");
  refuses([&](Rates& r) { r.alpha = nan; }, "alpha");
  refuses([](Rates& r) { r.n_rates = 0; }, "rate classes is 0");
  refuses([](Rates& r) { r.invariant = 1; }, "invariant sites is 1");
  refuses([](Rates& r) { r.invariant = -0.1; }, "invariant sites is -0.1");
}

}  // namespace
}  // namespace ancify
