// Checks likelihoods against sums over all bases of inner nodes.
#include "core/ancestry/phylogeny/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "core/ancestry/phylogeny/pattern_likelihood.h"
#include "core/exec/errors.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

PatternCounts patterns_of(int leaves, const std::vector<std::vector<int>>& patterns,
                          const std::vector<std::int64_t>& counts) {
  PatternCounts result;
  result.leaves = leaves;
  for (const auto& pattern : patterns) {
    result.states.insert(result.states.end(), pattern.begin(), pattern.end());
  }
  result.counts = counts;
  return result;
}

std::vector<double> lengths_of(const std::vector<TreeNode>& nodes) {
  std::vector<double> lengths;
  for (const auto& node : nodes) lengths.push_back(node.length);
  return lengths;
}

double log_likelihood(const std::vector<TreeNode>& nodes, int species,
                      const PatternCounts& patterns, const SubstitutionModel& model,
                      int threads = 1) {
  JobControl control;
  return PatternLikelihood(Tree(nodes, species), patterns)
      .log_likelihood(lengths_of(nodes), model, threads, control);
}

TEST(Likelihood, SumsOverAllHistories) {
  std::mt19937 random(6);
  int rounds = 0;
  int impossible = 0;
  while (rounds < 60) {
    const int species = 1 + static_cast<int>(random() % 5);
    const bool focal = random() % 2 == 0;
    const auto nodes = test::random_nodes(species, focal, random);
    if (test::inner_nodes(nodes) > 4) continue;
    ++rounds;
    const auto rates = test::random_rates(random);
    const SubstitutionModel model(rates);
    const int called = test::random_called(nodes, random);
    const Likelihood likelihood(Tree(nodes, species, called), model, {});
    for (int i = 0; i < 4; ++i) {
      auto states = test::random_states(static_cast<std::size_t>(species) + focal, random);
      const auto full =
          test::sum_over_histories(nodes, states, species, rates, model.rate_classes());
      const double found =
          log_likelihood(nodes, species, patterns_of(species + focal, {states}, {3}), model);
      if (full.probability == 0) {
        EXPECT_EQ(found, -kInfinity);
      } else {
        const auto expected = static_cast<double>(3 * std::log(full.probability));
        EXPECT_NEAR(found, expected, 1e-11 * (1 + std::abs(expected)));
      }

      states.resize(static_cast<std::size_t>(species));  // the call ignores the focal base
      const SiteCall site = likelihood.call(states.data());
      if (!test::has_data(states, species)) {
        EXPECT_EQ(site.call, 'N');
        EXPECT_FALSE(site.posterior);
        continue;
      }
      const auto expected =
          test::sum_over_histories(nodes, states, species, rates, model.rate_classes(), called);
      if (expected.probability == 0) {
        ++impossible;
        EXPECT_EQ(site.call, 'n');
        EXPECT_FALSE(site.posterior);
        continue;
      }
      ASSERT_TRUE(site.posterior);
      for (std::size_t base = 0; base < kBases; ++base) {
        EXPECT_NEAR((*site.posterior)[base], expected.posterior[base], 1e-12);
      }
    }
  }
  EXPECT_GT(impossible, 0);  // impossible data were among the cases
}

// Batches have the posteriors of single patterns to the last bit, at every level.
TEST(Likelihood, IsTheSameInBatches) {
  std::mt19937 random(62);
  for (const int species : {1, 2, 9, 60, 300}) {
    const auto nodes = test::random_nodes(species, true, random);
    auto rates = test::random_rates(random);
    if (species % 2 == 0) rates.alpha = 0.4;
    const Likelihood likelihood(Tree(nodes, species), SubstitutionModel(rates), {});
    std::vector<std::uint8_t> states(static_cast<std::size_t>(species) * kBatchSites);
    std::vector<SiteCall> expected;
    for (std::size_t i = 0; i < kBatchSites; ++i) {
      const auto pattern = test::random_states(static_cast<std::size_t>(species), random);
      expected.push_back(likelihood.call(pattern.data()));
      for (std::size_t s = 0; s < pattern.size(); ++s) {
        states[s * kBatchSites + i] = static_cast<std::uint8_t>(pattern[s]);
      }
    }
    for (const SimdLevel level : {SimdLevel::kScalar, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      for (const std::size_t n : {std::size_t{1}, std::size_t{5}, kBatchSites}) {
        std::vector<SiteCall> found(kBatchSites);
        likelihood.call_batch(states.data(), n, level, found.data());
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_EQ(found[i].call, expected[i].call);
          EXPECT_EQ(found[i].posterior, expected[i].posterior);
        }
      }
    }
  }
}

TEST(PatternLikelihood, ItsChangesAreThoseOfAllHistories) {
  std::mt19937 random(61);
  int rounds = 0;
  while (rounds < 40) {
    const int species = 1 + static_cast<int>(random() % 5);
    const bool focal = random() % 2 == 0;
    auto nodes = test::random_nodes(species, focal, random);
    if (test::inner_nodes(nodes) > 4) continue;
    for (auto& node : nodes) node.length += 0.01;
    ++rounds;
    const auto rates = test::random_rates(random);
    const SubstitutionModel model(rates);
    std::vector<std::vector<int>> patterns;
    const std::vector<std::int64_t> counts = {3, 1, 0};
    std::vector<std::array<std::array<double, kBases>, kBases>> expected(nodes.size());
    for (const std::int64_t count : counts) {
      patterns.push_back(test::random_states(static_cast<std::size_t>(species) + focal, random));
      const auto full =
          test::sum_over_histories(nodes, patterns.back(), species, rates, model.rate_classes());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        // A leaf without a base has no change.
        const auto at =
            static_cast<std::size_t>(nodes[i].leaf == kFocalLeaf ? species : nodes[i].leaf);
        const bool leaf = nodes[i].leaf != kNoLeaf;
        if (leaf && (at >= patterns.back().size() || patterns.back()[at] == kMissing)) continue;
        for (std::size_t a = 0; a < kBases; ++a) {
          for (std::size_t b = 0; b < kBases; ++b) {
            expected[i][a][b] += static_cast<double>(count) * full.changes[i][a][b];
          }
        }
      }
    }
    const PatternLikelihood likelihood(Tree(nodes, species),
                                       patterns_of(species + focal, patterns, counts));
    JobControl control;
    const auto found = likelihood.changes(lengths_of(nodes), model, 2, control);
    ASSERT_EQ(found.size(), nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t a = 0; a < kBases; ++a) {
        for (std::size_t b = 0; b < kBases; ++b) {
          EXPECT_NEAR(found[i][a][b], expected[i][a][b], 1e-11);
        }
      }
    }
  }
}

// Checks the gradient by branch lengths and by all parameters of a model against differences.
TEST(PatternLikelihood, ItsSlopeIsThatOfDifferences) {
  std::mt19937 random(17);
  int zero_lengths = 0;
  for (int round = 0; round < 40; ++round) {
    const int species = 1 + static_cast<int>(random() % 6);
    auto nodes = test::random_nodes(species, true, random);
    for (auto& node : nodes) {  // 0 is a bound; keep it only at inner nodes
      if (node.length == 0 && (node.leaf != 0 || round % 2 == 0)) node.length = 0.05;
      zero_lengths += node.length == 0 ? 1 : 0;
    }
    auto rates = test::random_rates(random);
    rates.alpha = 0.5;
    rates.invariant = 0.1;
    std::vector<std::vector<int>> patterns;
    std::vector<std::int64_t> counts;
    for (int i = 0; i < 5000; ++i) {
      patterns.push_back(test::random_states(static_cast<std::size_t>(species) + 1, random));
      counts.push_back(static_cast<std::int64_t>(random() % 10));
    }
    const PatternLikelihood likelihood(Tree(nodes, species),
                                       patterns_of(species + 1, patterns, counts));
    JobControl control;
    const auto lengths = lengths_of(nodes);
    const double value = likelihood.log_likelihood(lengths, SubstitutionModel(rates), 1, control);
    ASSERT_TRUE(std::isfinite(value));
    const Slope slope = likelihood.slope(lengths, SubstitutionModel(rates), 2, control);
    EXPECT_EQ(slope.log_likelihood, value);
    const auto compare = [&](auto change, double step) {
      double slow = 0;
      double fast = 0;
      for (const int sign : {1, -1}) {
        auto moved = lengths;
        auto other = rates;
        change(moved, other, sign * step);
        const SubstitutionModel model(other);
        slow += sign * likelihood.log_likelihood(moved, model, 1, control);
        fast += sign * likelihood.linearised(slope, moved, model);
      }
      EXPECT_NEAR(fast / (2 * step), slow / (2 * step), 1e-4 * (100 + std::abs(slow / (2 * step))));
    };
    using Lengths = std::vector<double>;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent == kNoParent || lengths[i] < 1e-4) continue;
      compare([&](Lengths& l, SubstitutionRates&, double d) { l[i] += d; }, 1e-5);
    }
    compare([](Lengths&, SubstitutionRates& r, double d) { r.exchangeabilities[1] += d; }, 1e-5);
    compare([](Lengths&, SubstitutionRates& r, double d) { r.frequencies[0] += d; }, 1e-5);
    compare([](Lengths&, SubstitutionRates& r, double d) { *r.alpha += d; }, 1e-5);
    compare([](Lengths&, SubstitutionRates& r, double d) { r.invariant += d; }, 1e-5);
  }
  EXPECT_GT(zero_lengths, 0);
}

TEST(PatternLikelihood, AddsUpPatternsOverBlocksAndThreads) {
  std::mt19937 random(7);
  const int species = 6;
  const auto nodes = test::random_nodes(species, true, random);
  const auto rates = test::random_rates(random);
  const SubstitutionModel model(rates);
  std::vector<std::vector<int>> patterns;
  std::vector<std::int64_t> counts;
  double expected = 0;
  for (int i = 0; i < 10000; ++i) {
    patterns.push_back(test::random_states(species + 1, random));
    counts.push_back(static_cast<std::int64_t>(random() % 100));
    const double one =
        log_likelihood(nodes, species, patterns_of(species + 1, {patterns.back()}, {1}), model);
    if (counts.back() > 0) expected += static_cast<double>(counts.back()) * one;
  }
  const auto all = patterns_of(species + 1, patterns, counts);
  const double found = log_likelihood(nodes, species, all, model);
  if (std::isfinite(expected)) {
    EXPECT_NEAR(found, expected, 1e-10 * std::abs(expected));
  } else {
    EXPECT_EQ(found, expected);
  }
  EXPECT_EQ(log_likelihood(nodes, species, all, model, 2), found);
}

// Hundreds of leaves that all differ from their neighbours: the likelihood is far below the
// smallest double. Another recursion computes it by logarithms of long doubles.
TEST(PatternLikelihood, DoesNotUnderflow) {
  for (const bool star : {false, true}) {
    const int species = 800;
    std::vector<TreeNode> nodes;
    std::vector<int> states;
    for (int s = 0; s < species; ++s) {
      nodes.push_back({star ? species : species + s, 1e-3, s, ""});
      states.push_back(s % kBases);
    }
    if (star) {
      nodes.push_back({kNoParent, 0, kNoLeaf, ""});
    } else {
      for (int s = 0; s < species; ++s) {
        nodes.push_back({s + 1 < species ? species + s + 1 : kNoParent, 1e-3, kNoLeaf, ""});
      }
    }
    const SubstitutionRates rates;
    const auto p = test::transitions_by_series(rates, 1e-3);
    std::array<long double, kBases> partial = {1, 1, 1, 1};
    for (int s = 0; s < species; ++s) {
      std::array<long double, kBases> next{};
      for (std::size_t i = 0; i < kBases; ++i) {
        for (std::size_t j = 0; j < kBases; ++j) {
          if (s == 0 || star) {
            next[i] = partial[i];
          } else {
            next[i] += p[i][j] * partial[j];
          }
        }
        next[i] *= p[i][static_cast<std::size_t>(states[static_cast<std::size_t>(s)])];
      }
      partial = next;
    }
    long double sum = 0;
    for (const auto x : partial) sum += x / kBases;
    ASSERT_GT(sum, 0.0L);
    const auto expected = static_cast<double>(std::log(sum));
    ASSERT_LT(expected, std::log(std::numeric_limits<double>::min()) * 2);
    const SubstitutionModel model(rates);
    EXPECT_NEAR(log_likelihood(nodes, species, patterns_of(species, {states}, {1}), model),
                expected, 1e-10 * std::abs(expected));
    const PatternLikelihood likelihood(Tree(nodes, species), patterns_of(species, {states}, {1}));
    JobControl control;
    const auto slope = likelihood.slope(lengths_of(nodes), model, 1, control);
    for (const auto& by : slope.by_transitions) {
      for (const auto& row : by) {
        for (const double x : row) EXPECT_TRUE(std::isfinite(x));
      }
    }
    const SiteCall site = Likelihood(Tree(nodes, species), model, {}).call(states.data());
    ASSERT_TRUE(site.posterior);
    for (std::size_t base = 0; base < kBases; ++base) {
      EXPECT_NEAR((*site.posterior)[base], static_cast<double>(partial[base] / kBases / sum),
                  1e-11);
    }
  }
}

TEST(PatternLikelihood, RefusesOtherLeavesAndLengths) {
  std::mt19937 random(8);
  const SubstitutionModel model{SubstitutionRates{}};
  const auto with = test::random_nodes(3, true, random);
  const auto without = test::random_nodes(3, false, random);
  EXPECT_THROW(PatternLikelihood(Tree(with, 3), patterns_of(5, {}, {})), InputError);
  EXPECT_THROW(PatternLikelihood(Tree(with, 3), patterns_of(2, {}, {})), InputError);
  EXPECT_THROW(PatternLikelihood(Tree(without, 3), patterns_of(4, {}, {})), InputError);
  const PatternLikelihood good(Tree(with, 3), patterns_of(3, {{0, 1, 4}}, {1}));
  JobControl control;
  auto lengths = lengths_of(with);
  EXPECT_NO_THROW(good.log_likelihood(lengths, model, 1, control));
  lengths.push_back(1);
  EXPECT_THROW(good.log_likelihood(lengths, model, 1, control), InputError);
  for (const double bad : {-1.0, double{NAN}, kInfinity}) {
    auto wrong = lengths_of(with);
    for (std::size_t i = 0; i < with.size(); ++i) {
      if (with[i].leaf == 2) wrong[i] = bad;
    }
    const auto message =
        test::message_of<InputError>([&] { good.log_likelihood(wrong, model, 1, control); });
    EXPECT_NE(message.find("above 'species 2' has the length"), std::string::npos) << message;
  }
}

TEST(Likelihood, CallsByThresholds) {
  const auto call = [](Posterior posterior, double high, double low, Ties ties = Ties::kOpen) {
    return call_by_posterior(posterior, {high, low, ties}).call;
  };
  EXPECT_EQ(call({0.1, 0.85, 0.05, 0}, 0.8, 0.5), 'C');
  EXPECT_EQ(call({0.1, 0.05, 0.05, 0.8}, 0.8, 0.5), 'T');
  EXPECT_EQ(call({0.1, 0.7, 0.1, 0.1}, 0.8, 0.5), 'c');
  EXPECT_EQ(call({0.4, 0.3, 0.2, 0.1}, 0.8, 0.5), 'n');
  EXPECT_EQ(call({0, 0.5, 0, 0.5}, 0.8, 0.5), 'n');
  EXPECT_EQ(call({0, 0.5, 0, 0.5}, 0.8, 0.5, Ties::kAlphabet), 'c');
  const Posterior but_for_rounding = {0, 0.5 - 1e-15, 0, 0.5 + 1e-15};
  EXPECT_EQ(call(but_for_rounding, 0.8, 0.5), 'n');
  EXPECT_EQ(call(but_for_rounding, 0.8, 0.5, Ties::kAlphabet), 'c');
  EXPECT_EQ(call({0, 0.5 - 1e-15, 0.25, 0.25}, 0.8, 0.5), 'c');
  EXPECT_EQ(call({0, 0.4999999, 0, 0.5000001}, 0.8, 0.5), 't');
  EXPECT_EQ(call({0.25, 0.25, 0.25, 0.25}, 0.25, 0), 'n');
  EXPECT_EQ(call({0.25, 0.25, 0.25, 0.25}, 0.25, 0, Ties::kAlphabet), 'A');
}

TEST(Likelihood, PhredIsThatOfTheError) {
  const auto phred = [](Posterior posterior) { return int{error_phred({'A', posterior})}; };
  EXPECT_EQ(phred({0.9, 0.1, 0, 0}), 10);
  EXPECT_EQ(phred({0, 0.999, 0.001, 0}), 30);
  EXPECT_EQ(phred({0.25, 0.25, 0.25, 0.25}), 1);
  EXPECT_EQ(phred({1, 1e-20, 0, 0}), 200);
  EXPECT_EQ(phred({1, 1e-30, 0, 0}), 254);
  EXPECT_EQ(phred({1, 0, 0, 0}), 254);
  EXPECT_EQ(int{error_phred({'A', {}})}, 255);
}

TEST(Likelihood, RefusesThresholdsInTheWrongOrderAndMissingLengths) {
  std::mt19937 random(9);
  auto nodes = test::random_nodes(3, false, random);
  const SubstitutionModel model{SubstitutionRates{}};
  for (const auto& bad : {Thresholds{0.5, 0.8}, Thresholds{1.1, 0.5}, Thresholds{0.8, -0.1},
                          Thresholds{NAN, 0.5}, Thresholds{0.8, NAN}}) {
    EXPECT_THROW(Likelihood(Tree(nodes, 3), model, bad), InputError);
  }
  for (auto& node : nodes) {
    if (node.leaf == 1) node.length = NAN;
  }
  EXPECT_NE(test::message_of<InputError>([&] {
              Likelihood(Tree(nodes, 3), model, {});
            }).find("above 'species 1' has no length"),
            std::string::npos);
}

std::string data_folder() {
  const char* folder = std::getenv("ANCIFY_TEST_DATA");
  return folder != nullptr ? folder : ANCIFY_SOURCE_DIR "/../shared/data";
}

// Compares posteriors at three nodes with PHAST's, by PHAST's rate matrix and tree.
TEST(Likelihood, IsPhasts) {
  const std::string folder = data_folder() + "/primates_hg18_100k/";
  std::ifstream table(folder + "phast_hky85_posteriors.tsv");
  if (!table) GTEST_SKIP() << "no real data in " << folder;
  SubstitutionRates rates;
  const double k = 0.872796 / 0.298517 / (0.178733 / 0.300298);
  rates.exchangeabilities = {1, k, 1, 1, k, 1};
  rates.frequencies = {0.196970, 0.300298, 0.298517, 0.204215};
  const SubstitutionModel model(rates);
  // panTro2, ponAbe2, rheMac2; (((hg18,panTro2),ponAbe2),rheMac2)
  const std::vector<TreeNode> at_root = {{3, 0.0126725, 0, "panTro2"}, {4, 0.0326862, 1, "ponAbe2"},
                                         {5, 0.0404685, 2, "rheMac2"}, {4, 0.0211303, kNoLeaf, ""},
                                         {5, 0.0404685, kNoLeaf, ""},  {kNoParent, 0, kNoLeaf, ""}};
  auto at_ape = at_root;
  at_ape.push_back({4, 0.01, kFocalLeaf, "hg18"});
  auto at_focal = at_root;
  at_focal.push_back({3, 0.0115224, kFocalLeaf, "hg18"});
  const std::vector<Likelihood> nodes = {Likelihood(Tree(at_root, 3), model, {}),
                                         Likelihood(Tree(at_ape, 3), model, {}),
                                         Likelihood(Tree(at_focal, 3), model, {})};
  int lines = 0;
  for (std::string line; std::getline(table, line);) {
    if (line[0] == '#' || line.rfind("pattern", 0) == 0) continue;
    ++lines;
    std::istringstream fields(line);
    std::string pattern;
    fields >> pattern;
    std::vector<int> states;
    for (const char c : pattern.substr(1)) states.push_back(base_code(c));
    for (const auto& node : nodes) {
      const SiteCall site = node.call(states.data());
      for (std::size_t base = 0; base < kBases; ++base) {
        double expected = -1;
        fields >> expected;
        const double found = site.posterior ? (*site.posterior)[base] : rates.frequencies[base];
        EXPECT_NEAR(found, expected, 0.5e-4 + 2e-6) << line;  // PHAST's model is rounded too
      }
    }
  }
  EXPECT_GT(lines, 100);
}

}  // namespace
}  // namespace ancify
