// Checks the coalescent method against integrals over gene trees and simulated sites.
#include "core/ancestry/coalescent/coalescent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/coalescent/focal_branch.h"
#include "gene_trees.h"
#include "support.h"

namespace ancify {
namespace {

using test::K80;
using test::message_of;
using test::model_of;
using test::SimulatedSite;
using test::SiteSimulator;

const K80 kK80 = {1.25e-8, 4};
const JobControl kControl;

History ladder(double focal_size, double size, const std::vector<double>& splits) {
  History history = {focal_size, 20, {}};
  for (const double split : splits) {
    history.joins.push_back({split, history.outgroups() + 1, 0, size});
  }
  return history;
}

const History kNear = ladder(30000, 30000, {40000, 120000, 200000});
const History kHuman = ladder(10000, 50000, {240000, 320000, 1100000});

std::size_t pattern_code(const std::vector<int>& states) {
  std::size_t code = 0;
  for (auto state = states.rbegin(); state != states.rend(); ++state) {
    code = code * kStates + static_cast<std::size_t>(*state);
  }
  return code;
}

std::size_t most_likely(const Posterior& posterior) {
  return static_cast<std::size_t>(std::max_element(posterior.begin(), posterior.end()) -
                                  posterior.begin());
}

// A model in which no two rates and no two frequencies are equal.
MutationModel general_model(double rate) {
  const double exchange[] = {1, 4.5, 0.7, 1.2, 5.1, 0.9};
  MutationModel model = {{}, {0.31, 0.18, 0.22, 0.29}};
  int next = 0;
  for (int i = 0; i < kBases; ++i) {
    for (int j = i + 1; j < kBases; ++j, ++next) {
      model.rates[i][j] = rate * exchange[next] * model.frequencies[j];
      model.rates[j][i] = rate * exchange[next] * model.frequencies[i];
    }
  }
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) {
      if (i != j) model.rates[i][i] -= model.rates[i][j];
    }
  }
  return model;
}

// ---- The oracle: two focal haplotypes and one outgroup, by integrals over coalescence times -----

RateMatrix product(const RateMatrix& a, const RateMatrix& b) {
  RateMatrix result = {};
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) {
      for (int k = 0; k < kBases; ++k) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

// exp(rates * time), by squaring a Taylor series.
RateMatrix transition(const RateMatrix& rates, double time) {
  const RateMatrix small = scaled(rates, time / 1024);
  RateMatrix power = {};
  for (int i = 0; i < kBases; ++i) power[i][i] = 1;
  RateMatrix sum = power;
  for (int n = 1; n < 12; ++n) {
    power = scaled(product(power, small), 1.0 / n);
    for (int i = 0; i < kBases; ++i) {
      for (int j = 0; j < kBases; ++j) sum[i][j] += power[i][j];
    }
  }
  for (int i = 0; i < 10; ++i) sum = product(sum, sum);
  return sum;
}

RateMatrix operator+(const RateMatrix& a, const RateMatrix& b) {
  RateMatrix result = a;
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) result[i][j] += b[i][j];
  }
  return result;
}

// The integral by Simpson's rule.
RateMatrix integral(double from, double to, const std::function<RateMatrix(double)>& f) {
  constexpr int kSteps = 10000;
  const double step = (to - from) / kSteps;
  RateMatrix sum = f(from) + f(to);
  for (int i = 1; i < kSteps; ++i) sum = sum + scaled(f(from + i * step), i % 2 == 0 ? 2 : 4);
  return scaled(sum, step / 3);
}

// Two focal haplotypes and one outgroup. Lineages coalesce at `focal_rate` in the focal population,
// and at `rate` before the split. There are three gene trees: the haplotypes coalesce within the
// focal population, or first before the split, or one of them first coalesces with the outgroup.
struct Trio {
  double split;
  double focal_rate;
  double rate;
  MutationModel model;

  RateMatrix moved(double time) const { return transition(model.rates, time); }
  double apart() const { return std::exp(-focal_rate * split); }
  // The mean of f over an exponentially distributed time.
  RateMatrix mean(double of_rate, const std::function<RateMatrix(double)>& f) const {
    return integral(0, 40 / of_rate,
                    [&](double t) { return scaled(f(t), of_rate * std::exp(-of_rate * t)); });
  }
  RateMatrix both_ways() const {
    return mean(rate, [&](double t) { return moved(2 * t); });
  }

  // Joint probabilities of [the haplotypes' ancestor's base][the outgroup's base].
  RateMatrix ancestor() const {
    const RateMatrix within = integral(0, split, [&](double t) {
      return scaled(moved(2 * split - t), focal_rate * std::exp(-focal_rate * t));
    });
    const RateMatrix first = mean(3 * rate, [&](double t) { return moved(split + t); });
    const RateMatrix second = mean(rate, [&](double t) { return moved(t); });
    return product(within, both_ways()) + scaled(product(first, both_ways()), apart() / 3) +
           scaled(product(first, second), apart() * 2 / 3);
  }

  // The same with one mutation, at rate 1, in one of the haplotypes' lineages. The second matrix is
  // for outgroups that inherit the mutation: [the derived base][the outgroup's base].
  std::array<RateMatrix, 2> mutated() const {
    const RateMatrix within = integral(0, split, [&](double t) {
      return scaled(moved(2 * split - t), 2 * t * focal_rate * std::exp(-focal_rate * t));
    });
    const RateMatrix first =
        mean(3 * rate, [&](double t) { return scaled(moved(split + t), 2 * (split + t)); });
    const RateMatrix longer = mean(
        3 * rate, [&](double t) { return scaled(moved(split + t), 2 * (split + t) + 1 / rate); });
    const RateMatrix above =
        mean(3 * rate, [&](double t) { return scaled(moved(split + t), 1 / rate); });
    return {product(within, both_ways()) + scaled(product(first, both_ways()), apart() / 3) +
                scaled(longer, apart() * 2 / 3),
            scaled(above, apart() * 2 / 3)};
  }
};

const Trio kTrio = {30000, 1 / 50000.0, 1 / 70000.0, general_model(2e-7)};
const History kTrioHistory = {25000, 2, {{30000, 1, 0, 35000}}};

TEST(Coalescent, GenomeWideTableIsThatOfIntegralsOverTimes) {
  const auto expected = kTrio.ancestor();
  const auto table = ancestor_table(kTrioHistory, kTrio.model, kControl);
  for (std::size_t ancestor = 0; ancestor < kBases; ++ancestor) {
    const double frequency = kTrio.model.frequencies[ancestor];
    for (std::size_t outgroup = 0; outgroup < kBases; ++outgroup) {
      const double probability = frequency * expected[ancestor][outgroup];
      EXPECT_NEAR(table[outgroup][ancestor], probability, 1e-9 * probability);
    }
    EXPECT_NEAR(table[kMissing][ancestor], frequency, 1e-11);
  }
}

TEST(Coalescent, PolymorphicTableIsThatOfIntegralsOverTimes) {
  const auto mutated = kTrio.mutated();
  const auto& beside = mutated[0];  // clang's lambdas cannot capture structured bindings
  const auto& below = mutated[1];
  const auto& model = kTrio.model;
  for (int a = 0; a < kBases; ++a) {
    for (int b = 0; b < kBases; ++b) {
      if (a == b) continue;
      for (int outgroup = 0; outgroup < kBases; ++outgroup) {
        const auto chance = [&](int old, int young) {
          return model.frequencies[old] * model.rates[old][young] *
                 (beside[old][outgroup] + below[young][outgroup]);
        };
        const auto posterior =
            polarise(kTrioHistory, {model}, {{outgroup, {a, b}, 2, 1}}, kControl)[0];
        const double expected = chance(a, b) / (chance(a, b) + chance(b, a));
        EXPECT_NEAR(posterior[a], expected, 1e-9);
        EXPECT_NEAR(posterior[b], 1 - expected, 1e-9);
      }
    }
  }
}

// ---- What must hold in any history --------------------------------------------------------------

TEST(Coalescent, AnOutgroupWithoutDataIsOneThatIsNotThere) {
  const auto model = general_model(1e-8);
  const History three = {8000, 9, {{30000, 1, 0, 20000}, {90000, 2, 0, 20000}, {2e5, 3, 0, 4e4}}};
  const History two = {8000, 9, {{30000, 1, 0, 20000}, {2e5, 2, 0, 4e4}}};
  const auto table = ancestor_table(three, model, kControl);
  const auto smaller = ancestor_table(two, model, kControl);
  for (std::size_t first = 0; first < kStates; ++first) {
    for (std::size_t last = 0; last < kStates; ++last) {
      const std::size_t pattern = first + kMissing * kStates + last * kStates * kStates;
      for (std::size_t base = 0; base < kBases; ++base) {
        const double expected = smaller[first + last * kStates][base];
        EXPECT_NEAR(table[pattern][base], expected, 1e-9 * expected);
      }
    }
  }
}

TEST(Coalescent, ThePatternsProbabilitiesDoNotDependOnTheFocalSample) {
  const auto model = general_model(1e-8);
  History history = kNear;
  const auto of_one = pattern_probabilities(history, model, kControl);
  history.focal_size = 1000;
  history.focal_lineages = 7;
  const auto of_seven = ancestor_table(history, model, kControl);
  double total = 0;
  for (std::size_t pattern = 0; pattern < of_seven.size(); ++pattern) {
    const auto& of_base = of_seven[pattern];
    const double sum = of_base[0] + of_base[1] + of_base[2] + of_base[3];
    EXPECT_NEAR(of_one[pattern + kMissing * of_seven.size()], sum, 1e-10 * sum);
    total = sum;
  }
  EXPECT_NEAR(total, 1, 1e-11);  // the last pattern: all outgroups are missing
}

// ((focal, a), (b, c)), where b and c join first.
TEST(Coalescent, OutgroupsMayBeAClade) {
  const auto model = general_model(1e-8);
  const History history = {8000, 5, {{50000, 3, 2, 10000}, {70000, 1, 0, 9000}, {2e5, 2, 0, 1e4}}};
  const auto table = ancestor_table(history, model, kControl);
  // Alone, b and c are two populations that split 50,000 generations ago.
  const auto pair = pattern_probabilities({1, 1, {{50000, 1, 0, 10000}}}, model, kControl);
  for (std::size_t b = 0; b < kBases; ++b) {
    for (std::size_t c = 0; c < kBases; ++c) {
      const auto& of_base = table[kMissing + kStates * (b + kStates * c)];
      const double sum = of_base[0] + of_base[1] + of_base[2] + of_base[3];
      EXPECT_NEAR(sum, pair[b + kStates * c], 1e-9 * sum);
    }
  }
}

TEST(Coalescent, ClassesOfRatesAreMixed) {
  auto mixed = general_model(1e-8);
  mixed.classes = {{0, 0.25}, {0.5, 0.35}, {2, 0.4}};
  const PolymorphicSite site = {0 + 5 * 2 + 25 * 0, {0, 2}, 20, 5};
  const auto table = ancestor_table(kHuman, mixed, kControl);
  double expected = 0;
  for (const auto& [rate, share] : mixed.classes) {
    MutationModel model = mixed;
    model.rates = scaled(mixed.rates, rate);
    model.classes = {{1, 1}};
    expected += share * ancestor_table(kHuman, model, kControl)[10][0];
  }
  EXPECT_NEAR(table[10][0], expected, 1e-12 * expected);
  // The class with rate 0 has no polymorphic sites.
  auto moving = mixed;
  moving.classes = {{0.5, 0.35}, {2, 0.4}};
  const auto with = polarise(kHuman, {mixed}, {site}, kControl)[0];
  EXPECT_EQ(with, polarise(kHuman, {moving}, {site}, kControl)[0]);
  EXPECT_GT(with[0], 0.5);
}

// ---- Small populations --------------------------------------------------------------------------

// If lineages coalesce at once, only mutation along the species tree remains.
double on_ladder(const std::vector<RateMatrix>& branch, const std::vector<RateMatrix>& between,
                 const Posterior& root, const int* outgroups, int ancestor) {
  std::array<double, kBases> below = {};
  below[static_cast<std::size_t>(ancestor)] = 1;
  for (std::size_t i = 0; i < branch.size(); ++i) {
    std::array<double, kBases> node = {};
    for (int at = 0; at < kBases; ++at) {
      for (int to = 0; to < kBases; ++to) {
        node[static_cast<std::size_t>(at)] +=
            between[i][at][to] * below[static_cast<std::size_t>(to)];
      }
      node[static_cast<std::size_t>(at)] *= branch[i][at][outgroups[i]];
    }
    below = node;
  }
  double sum = 0;
  for (std::size_t at = 0; at < kBases; ++at) sum += root[at] * below[at];
  return sum;
}

TEST(Coalescent, SmallPopulationsFollowTheSpeciesTree) {
  const auto model = general_model(1.25e-8);
  const std::vector<double> splits = {240000, 320000, 1100000};
  const auto start = std::chrono::steady_clock::now();
  for (const double size : {1e-6, 1.0, 50.0}) {
    std::vector<RateMatrix> branch;
    std::vector<RateMatrix> between;
    for (std::size_t i = 0; i < splits.size(); ++i) {
      branch.push_back(transition(model.rates, splits[i]));
      between.push_back(transition(model.rates, splits[i] - (i == 0 ? 0 : splits[i - 1])));
    }
    const auto table = ancestor_table(ladder(size, size, splits), model, kControl);
    for (int code = 0; code < 64; ++code) {
      const int outgroups[] = {code % 4, code / 4 % 4, code / 16};
      const auto pattern =
          static_cast<std::size_t>(outgroups[0] + 5 * outgroups[1] + 25 * outgroups[2]);
      for (int ancestor = 0; ancestor < kBases; ++ancestor) {
        const double found = table[pattern][static_cast<std::size_t>(ancestor)];
        const double expected = on_ladder(branch, between, model.frequencies, outgroups, ancestor);
        // Gene tree nodes are about 2N generations older; the shortest branch has 80,000.
        EXPECT_NEAR(found, expected, (1e-11 + 20 * size / 80000) * expected) << size;
      }
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 20);
}

TEST(Coalescent, StopsWhereItIsAskedTo) {
  JobControl stopped;
  stopped.request_stop();
  EXPECT_THROW(ancestor_table(kHuman, model_of(kK80), stopped), Interrupted);
  MethodOptions options;
  options.name = "coalescent";
  options.voting.n_inner = 2;
  options.voting.n_outer = 1;
  options.history = kHuman;
  EXPECT_THROW(make_method(options, stopped), Interrupted);
}

// ---- The focal branch ---------------------------------------------------------------------------

TEST(FocalBranch, TwoLineagesAndOne) {
  const auto rates = general_model(1e-7).rates;
  const FocalBranch two(2, {{5000, 12000}}, rates);
  EXPECT_NEAR(two.reach(2), std::exp(-1.2), 1e-13);
  EXPECT_NEAR(two.reach(1), 1 - std::exp(-1.2), 1e-13);
  const FocalBranch one(1, {{5000, 12000}}, rates);
  const auto expected = transition(rates, 12000);
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) EXPECT_NEAR(one.stem()[i][j], expected[i][j], 1e-13);
  }
}

// In a population without splits, the expected length of branches with i copies in a sample is 4N /
// i generations (Fu 1995). The expected number of remaining lineages is from Griffiths and Tavare.
TEST(FocalBranch, LargeSamplesHaveTheKnownSpectrum) {
  const FocalBranch always(5008, {{10000, 1e7}}, {});
  for (const int copies : {1, 2, 17, 300, 2504, 5007}) {
    const auto mutated = always.mutated(copies, 3);
    EXPECT_NEAR(mutated.stem[0][0], 40000.0 / copies, 1e-9 * 40000.0 / copies);
    EXPECT_NEAR(mutated.left[2], 0, 1e-6);
  }
  const FocalBranch branch(5008, {{30000, 40000}}, {});
  double sum = 0;
  double mean = 0;
  double expected = 0;
  double falling = 1;  // n (n - 1) ... (n - i + 1) / (n (n + 1) ... (n + i - 1))
  for (int i = 1; i <= 5008; ++i) {
    sum += branch.reach(i);
    mean += i * branch.reach(i);
    falling *= (5008.0 - i + 1) / (5008.0 + i - 1);
    expected += (2 * i - 1) * falling * std::exp(-i * (i - 1) / 2.0 * 40000 / 60000);
  }
  EXPECT_NEAR(sum, 1, 1e-11);
  EXPECT_NEAR(mean, expected, 1e-10);
  EXPECT_LE(branch.most_left(1e-12), 14);
}

// Summed over the sample's counts, split_sample() is the number of choices times the probability.
TEST(FocalBranch, WaysToSplitASampleAreAllWays) {
  const FocalBranch branch(30, {{10000, 8000}}, {});
  for (int kept = 1; kept < 6; ++kept) {
    for (int carried = 1; carried < 6; ++carried) {
      double sum = 0;
      for (int copies = 1; copies < 30; ++copies) {
        sum += branch.split_sample(copies, kept, carried);
      }
      double choices = 1;
      for (int i = 1; i <= carried; ++i) choices *= static_cast<double>(kept + i) / i;
      EXPECT_NEAR(sum, choices * branch.reach(kept + carried), 1e-12);
    }
  }
}

// Without copies, both are sums over all counts.
TEST(FocalBranch, EpochsOfOneSizeAreOneEpoch) {
  const RateMatrix rates = general_model(1e-6).rates;
  const FocalBranch one(9, {{10000, 8000}}, rates);
  const FocalBranch three(9, {{10000, 500}, {10000, 2500}, {10000, 5000}}, rates);
  for (int k = 1; k <= 9; ++k) EXPECT_NEAR(three.reach(k), one.reach(k), 1e-12);
  for (const std::optional<int> copies : {std::optional<int>(), std::optional<int>(2)}) {
    const auto expected = one.mutated(copies, 9);
    const auto found = three.mutated(copies, 9);
    for (std::size_t k = 2; k <= 9; ++k) EXPECT_NEAR(found.left[k], expected.left[k], 1e-8);
    for (int x = 0; x < kBases; ++x) {
      for (int z = 0; z < kBases; ++z) {
        EXPECT_NEAR(three.stem()[x][z], one.stem()[x][z], 1e-12);
        EXPECT_NEAR(found.stem[x][z], expected.stem[x][z], 1e-8);
      }
    }
  }
}

TEST(FocalBranch, AnEpochsSizeCountsAsItsShareOfTime) {
  // The number of lineages depends on the sum of generations / 2N alone.
  const FocalBranch changing(9, {{5000, 2000}, {20000, 8000}}, {});
  const FocalBranch constant(9, {{10000, 8000}}, {});
  for (int k = 1; k <= 9; ++k) EXPECT_NEAR(changing.reach(k), constant.reach(k), 1e-12);
}

TEST(FocalBranch, UnknownCopiesAreTheSumOverAllCounts) {
  constexpr int n = 17;
  constexpr int most = 6;
  const FocalBranch branch(n, {{10000, 8000}}, general_model(1e-6).rates);
  const auto any = branch.mutated({}, most);
  FocalBranch::Mutated sum = {std::vector<double>(most + 1), {}};
  for (int copies = 1; copies < n; ++copies) {
    const auto one = branch.mutated(copies, most);
    for (std::size_t k = 2; k <= most; ++k) sum.left[k] += one.left[k];
    sum.stem = sum.stem + one.stem;
  }
  for (std::size_t k = 2; k <= most; ++k) {
    EXPECT_GT(any.left[k], 0);
    EXPECT_NEAR(any.left[k], sum.left[k], 1e-10 * sum.left[k]);
  }
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = 0; j < kBases; ++j) {
      EXPECT_NEAR(any.stem[i][j], sum.stem[i][j], 1e-10 * sum.stem[i][j]);
    }
  }
  for (int kept = 1; kept < 6; ++kept) {
    for (int carried = 1; carried < 6; ++carried) {
      double all = 0;
      for (int copies = 1; copies < n; ++copies) all += branch.split_sample(copies, kept, carried);
      EXPECT_GT(all, 0);
      EXPECT_NEAR(branch.split_sample({}, kept, carried), all, 1e-12 * all);
    }
  }
  EXPECT_EQ(branch.split_sample({}, 9, 9), 0);
}

// ---- Simulated sites ----------------------------------------------------------------------------

struct Score {
  double weight = 0;
  double right = 0;
  double expected = 0;
  int sites = 0;

  void add(const SimulatedSite& site, const Posterior& posterior) {
    const std::size_t base = most_likely(posterior);
    weight += site.weight;
    right += site.weight * (static_cast<int>(base) == site.ancestor);
    expected += site.weight * posterior[base];
    ++sites;
  }
  double share_right() const { return right / weight; }
  double mean_posterior() const { return expected / weight; }
};

Posterior certain(int base) {
  Posterior posterior = {};
  posterior[static_cast<std::size_t>(base)] = 1;
  return posterior;
}

// The most frequent base, or the nearest outgroup's if all bases differ.
int majority(const std::vector<int>& outgroups) {
  int counts[kBases] = {};
  for (const int base : outgroups) ++counts[base];
  const auto best = std::max_element(counts, counts + kBases);
  return *best > 1 ? static_cast<int>(best - counts) : outgroups[0];
}

TEST(Coalescent, GenomeWidePosteriorsAreTheSharesThatAreRight) {
  for (const History& history : {kNear, kHuman}) {
    const CoalescentMethod method(history, model_of(kK80), {0.8, 0.5});
    Score all;
    std::array<Score, 21> bins;
    std::map<std::vector<int>, Posterior> known;
    SiteSimulator(history, kK80, 1).all_sites(200000, [&](const SimulatedSite& site) {
      const auto [found, is_new] = known.try_emplace(site.outgroups);
      Posterior& posterior = found->second;
      if (is_new) posterior = *method.call(site.outgroups.data()).posterior;
      all.add(site, posterior);
      bins[static_cast<std::size_t>(20 * posterior[most_likely(posterior)])].add(site, posterior);
    });
    EXPECT_NEAR(all.mean_posterior(), all.share_right(), 0.0001);
    int checked = 0;
    for (const Score& bin : bins) {
      if (bin.sites < 1000) continue;
      EXPECT_NEAR(bin.mean_posterior(), bin.share_right(), 0.015);
      ++checked;
    }
    EXPECT_GE(checked, 2);
  }
}

// The scores of all methods at the same sites.
struct Comparison {
  Score coalescent;
  Score alleles_alone;
  Score genome_wide;
  Score majority_vote;
  Score closest;
  Score species_tree;
};

Comparison compare(const History& history, int trees) {
  const auto model = model_of(kK80);
  const CoalescentMethod method(history, model, {0.8, 0.5});
  // The tree that a fit would give. Populations are so small that gene trees equal the species
  // tree, and nodes are at the mean coalescence times.
  History tree = history;
  tree.focal_size = 100;
  for (auto& join : tree.joins) {
    join.time += 2 * join.size;
    join.size = 100;
  }
  const CoalescentMethod species_tree(tree, model, {0.8, 0.5});

  Comparison result;
  std::vector<SimulatedSite> simulated;
  std::vector<PolymorphicSite> sites;
  SiteSimulator(history, kK80, 2).focal_mutations(trees, [&](const SimulatedSite& site) {
    if (site.alleles() != 2) return;
    PolymorphicSite polymorphic = {static_cast<std::int64_t>(pattern_code(site.outgroups)),
                                   {-1, -1},
                                   history.focal_lineages,
                                   0};
    for (int base = 0; base < kBases; ++base) {
      if (site.copies[base] == 0) continue;
      polymorphic.alleles[polymorphic.alleles[0] < 0 ? 0 : 1] = base;
      polymorphic.copies = site.copies[base];
    }
    simulated.push_back(site);
    sites.push_back(polymorphic);
    const int* outgroups = site.outgroups.data();
    result.genome_wide.add(site, *method.call(outgroups).posterior);
    result.majority_vote.add(site, certain(majority(site.outgroups)));
    result.closest.add(site, certain(site.outgroups[0]));
    // In a population of constant size an allele is ancestral with probability its frequency.
    Posterior weighted = *species_tree.call(outgroups).posterior;
    for (std::size_t base = 0; base < kBases; ++base) weighted[base] *= site.copies[base];
    result.species_tree.add(site, weighted);
  });
  const auto posteriors = polarise(history, {model}, sites, kControl);
  for (auto& site : sites) site.copies.reset();
  const auto of_alleles = polarise(history, {model}, sites, kControl);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    result.coalescent.add(simulated[i], posteriors[i]);
    result.alleles_alone.add(simulated[i], of_alleles[i]);
  }
  return result;
}

TEST(Coalescent, PolymorphicSitesOfNearRelatives) {
  const Comparison share = compare(kNear, 200000);
  EXPECT_GE(share.coalescent.share_right(), 0.987);
  EXPECT_LE(share.coalescent.share_right(), 0.9895);
  EXPECT_NEAR(share.coalescent.mean_posterior(), share.coalescent.share_right(), 0.001);
  EXPECT_GE(share.genome_wide.share_right(), 0.975);
  EXPECT_GE(share.alleles_alone.share_right(), 0.984);
  EXPECT_NEAR(share.alleles_alone.mean_posterior(), share.alleles_alone.share_right(), 0.001);
  EXPECT_NEAR(share.majority_vote.share_right(), 0.977, 0.0025);
  EXPECT_NEAR(share.closest.share_right(), 0.867, 0.0025);
  EXPECT_NEAR(share.species_tree.share_right(), 0.932, 0.01);
}

TEST(Coalescent, PolymorphicSitesOfHumans) {
  const Comparison share = compare(kHuman, 100000);
  EXPECT_GE(share.coalescent.share_right(), 0.996);
  EXPECT_NEAR(share.coalescent.mean_posterior(), share.coalescent.share_right(), 0.001);
  EXPECT_GT(share.coalescent.share_right(), share.genome_wide.share_right());
}

// ---- Calls and errors ---------------------------------------------------------------------------

TEST(Coalescent, LettersFollowTheThresholds) {
  const auto model = model_of(kK80);
  const int outgroups[] = {0, 2, kMissing};
  const int none[] = {kMissing, kMissing, kMissing};
  const CoalescentMethod plain(kNear, model, {0.8, 0.5});
  EXPECT_EQ(plain.species(), 3);
  const SiteCall call = plain.call(outgroups);
  const double best = (*call.posterior)[0];
  EXPECT_GT(best, 0.5);
  EXPECT_LT(best, 0.8);
  EXPECT_EQ(call.call, 'a');
  EXPECT_EQ(CoalescentMethod(kNear, model, {best, 0.5}).call(outgroups).call, 'A');
  EXPECT_EQ(CoalescentMethod(kNear, model, {0.95, 0.9}).call(outgroups).call, 'n');
  EXPECT_EQ(plain.call(none).call, 'N');
  EXPECT_FALSE(plain.call(none).posterior);
}

TEST(Coalescent, IsOneOfTheMethods) {
  MethodOptions options;
  options.name = "coalescent";
  options.voting.n_inner = 2;
  options.voting.n_outer = 1;
  const auto message = [&] { return message_of<InputError>([&] { make_method(options); }); };
  EXPECT_NE(message().find("needs a history"), std::string::npos);
  options.history = ladder(10000, 50000, {240000, 320000});
  EXPECT_NE(message().find("has 2 outgroups, but there are 3"), std::string::npos);
  options.history = kHuman;
  options.rates.exchangeabilities = {1, 4, 1, 1, 4, 1};
  const auto method = make_method(options);
  const CoalescentMethod expected(kHuman, model_of({options.mutation_rate, 4}), {0.8, 0.5});
  const int states[] = {0, 2, 2};
  EXPECT_EQ(method->call(states).call, expected.call(states).call);
  for (std::size_t base = 0; base < kBases; ++base) {
    const double posterior = (*expected.call(states).posterior)[base];
    EXPECT_NEAR((*method->call(states).posterior)[base], posterior, 1e-12);
  }
}

TEST(Coalescent, ASiteWithOneAlleleHasIt) {
  const auto model = model_of(kK80);
  const auto posteriors = polarise(
      kNear, {model}, {{0, {1, 3}, 10, 0}, {0, {1, 3}, 10, 10}, {0, {0, 3}, 10, 2}}, kControl);
  EXPECT_EQ(posteriors[0], certain(1));
  EXPECT_EQ(posteriors[1], certain(3));
  EXPECT_GT(posteriors[2][0], 0.99);
}

// Sites are grouped by their counts for the computation, but keep the caller's order. Sample sizes
// may differ.
TEST(Coalescent, SitesDoNotInfluenceEachOther) {
  const auto model = model_of(kK80);
  std::vector<PolymorphicSite> sites;
  for (int i = 0; i < 40; ++i) {
    const int n = 3 + i * 7 % 11;
    sites.push_back({i * 31 % 125, {i % 4, (i + 1 + i % 3) % 4}, n, 1 + i % (n - 1)});
  }
  const auto together = polarise(kHuman, {model}, sites, kControl);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto alone = polarise(kHuman, {model}, {sites[i]}, kControl)[0];
    for (std::size_t base = 0; base < kBases; ++base) {
      EXPECT_NEAR(together[i][base], alone[base], 1e-6);
    }
    // The order of the alleles does not matter.
    PolymorphicSite swapped = sites[i];
    std::swap(swapped.alleles[0], swapped.alleles[1]);
    swapped.copies = swapped.haplotypes - *swapped.copies;
    const auto other = polarise(kHuman, {model}, {swapped}, kControl)[0];
    for (std::size_t base = 0; base < kBases; ++base) EXPECT_NEAR(other[base], alone[base], 1e-12);
  }
}

TEST(Coalescent, WhatIsForgottenHasNoInfluence) {
  const auto model = model_of(kK80);
  SitePolariser polariser(kHuman, {model}, 4000, kControl);
  const auto posterior = [&](int haplotypes) {
    return polariser.posterior({0 + 5 * 2 + 25 * 0, {0, 2}, haplotypes, haplotypes / 3});
  };
  const auto first = posterior(3000);
  for (int haplotypes = 3001; haplotypes < 3050; ++haplotypes) posterior(haplotypes);
  EXPECT_EQ(posterior(3000), first);
  const std::vector<PolymorphicSite> sites = {{10, {0, 2}, 3000, 1000}, {10, {0, 2}, 4000, 5}};
  EXPECT_EQ(polarise(kHuman, {model}, sites, kControl)[0], first);
}

TEST(Coalescent, HistoriesThatCannotBe) {
  const auto model = model_of(kK80);
  const auto message = [&](const History& history) {
    return message_of<InputError>([&] { ancestor_table(history, model, kControl); });
  };
  const auto says = [&](const History& history, const std::string& text) {
    EXPECT_NE(message(history).find(text), std::string::npos) << message(history);
  };
  says({0, 20, kNear.joins}, "focal population's size is 0");
  says({1000, 0, kNear.joins}, "focal lineages is 0");
  says({1000, 1000000000, kNear.joins}, "the maximum is 1000000");
  says({1000, 20, {}}, "no splits");
  says({1000, 20, {{1000, 1, 0, 1e12}}}, "the past cannot be inferred");
  says({1000, 20, {{1e14, 1, 0, 1000}}}, "the past cannot be inferred");
  says({1000, 20, {{0, 1, 0, 1000}}}, "split time 1 is 0");
  says({1000, 20, {{2e4, 1, 0, -1}}}, "population size 1 is -1");
  says({1000, 20, {{2e4, 1, 0, 1000}, {1e4, 2, 0, 1000}}}, "split time 2 is 10000, before");
  says({1000, 20, {{2e4, 1, 0, 1000}, {3e4, 1, 0, 1000}}}, "joins population 1 into");
  says({1000, 20, {{2e4, 2, 1, 1000}, {3e4, 2, 0, 1000}}}, "joins population 2 into");
  says({1e6, 5000, {{1000, 1, 0, 1000}}}, "too recent");
  says(ladder(1000, 1000, {1e4, 2e4, 3e4, 4e4, 5e4, 6e4, 7e4}), "at most 6");
}

// Several threads ask at once, and caches are emptied meanwhile.
TEST(Coalescent, ThreadsShareAPolariser) {
  const auto model = general_model(1e-8);
  std::vector<PolymorphicSite> sites;
  for (int i = 0; i < 400; ++i) sites.push_back({i % 5, {0, 2}, 1000 + 7 * (i % 90), 1 + i % 200});
  SitePolariser polariser(kNear, {model}, 2000, kControl);
  polariser.prepare(kControl);
  std::vector<Posterior> found(4 * sites.size());
  JobControl control;
  run_tasks(control, 4, 4, [&](std::int64_t task, const TaskContext& /*context*/) {
    for (std::size_t i = 0; i < sites.size(); ++i) {
      found[static_cast<std::size_t>(task) * sites.size() + i] = polariser.posterior(sites[i]);
    }
  });
  SitePolariser alone(kNear, {model}, 2000, kControl);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Posterior expected = alone.posterior(sites[i]);
    for (std::size_t task = 0; task < 4; ++task) {
      EXPECT_EQ(found[task * sites.size() + i], expected) << i;
    }
  }
}

// Two haplotypes that differ have one copy of each allele.
TEST(Coalescent, UnknownCountsOfTwoHaplotypesAreKnown) {
  const auto model = general_model(1e-8);
  for (int outgroup = 0; outgroup < kBases; ++outgroup) {
    const auto counted = polarise(kNear, {model}, {{outgroup, {0, 2}, 2, 1}}, kControl)[0];
    const auto any = polarise(kNear, {model}, {{outgroup, {0, 2}, 2, {}}}, kControl)[0];
    for (std::size_t base = 0; base < kBases; ++base) EXPECT_NEAR(any[base], counted[base], 1e-12);
  }
}

TEST(Coalescent, SitesThatCannotBe) {
  const auto message = [&](const PolymorphicSite& site) {
    return message_of<InputError>([&] { polarise(kNear, {model_of(kK80)}, {site}, kControl); });
  };
  EXPECT_NE(message({125, {0, 1}, 10, 2}).find("pattern 125"), std::string::npos);
  EXPECT_NE(message({0, {0, 4}, 10, 2}).find("not a base"), std::string::npos);
  EXPECT_NE(message({0, {2, 2}, 10, 2}).find("same allele"), std::string::npos);
  EXPECT_NE(message({0, {0, 1}, 10, 11}).find("11 copies"), std::string::npos);
  EXPECT_NE(message({0, {0, 1}, 1, {}}).find("varies, but has 1"), std::string::npos);
  EXPECT_NE(message({0, {0, 1}, 1000001, 11}).find("the maximum is 1000000"), std::string::npos);
}

TEST(Coalescent, AModelOfMutationIsOneOfSubstitutionPerGeneration) {
  SubstitutionRates rates;
  rates.exchangeabilities = {1, 4.5, 0.7, 1.2, 5.1, 0.9};
  rates.frequencies = {0.31, 0.18, 0.22, 0.29};
  rates.invariant = 0.2;
  const MutationModel model = mutation_model(rates, 3e-8);
  const SubstitutionModel substitution(rates);
  const auto expected = substitution.transitions(3e-8 * 1e6);
  const auto found = transition(model.rates, 1e6);
  for (std::size_t i = 0; i < kBases; ++i) {
    EXPECT_EQ(model.frequencies[i], substitution.frequencies()[i]);
    for (std::size_t j = 0; j < kBases; ++j) EXPECT_NEAR(found[i][j], expected[i][j], 1e-13);
  }
  ASSERT_EQ(model.classes.size(), 2U);
  EXPECT_EQ(model.classes[1].share, 0.8);
  EXPECT_NE(message_of<InputError>([&] { mutation_model(rates, 0); }).find("mutation rate is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace ancify
