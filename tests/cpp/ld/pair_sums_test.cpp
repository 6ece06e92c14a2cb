// Checks sums of pairs against means over all choices of different units, by recursion.
#include "core/ld/pair_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "core/ld/statistics.h"
#include "support.h"

namespace ancify {
namespace {

constexpr int kMissing = 9;

// values[site][population][unit]
using Values = std::vector<std::vector<std::vector<int>>>;

// The contribution of one unit to a product, from its x and y.
struct Slot {
  std::size_t population;
  std::function<double(int x, int y)> value;
};
struct Product {
  double coefficient;
  std::vector<Slot> slots;
};

class Oracle {
 public:
  Oracle(const Values& values, std::size_t left, std::size_t right, UnitKind kind)
      : of_covariance_(kind == UnitKind::kHaplotypes ? 0.25 : 0.5) {
    for (std::size_t k = 0; k < values[left].size(); ++k) {
      units_.emplace_back();
      for (std::size_t u = 0; u < values[left][k].size(); ++u) {
        const int x = values[left][k][u];
        const int y = values[right][k][u];
        if (x != kMissing && y != kMissing) units_.back().emplace_back(x, y);
      }
    }
  }

  bool is_small() const {
    return std::any_of(units_.begin(), units_.end(), [](const auto& u) { return u.size() < 4; });
  }

  std::vector<double> statistics() const {
    const std::size_t n = units_.size();
    std::vector<double> all;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) all.push_back(mean(times(d(i), d(j))));
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = j; k < n; ++k) all.push_back((dz(i, j, k) + dz(i, k, j)) / 2);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        for (std::size_t k = i; k < n; ++k) {
          for (std::size_t l = std::max(k, k == i ? j : 0); l < n; ++l) {
            all.push_back((pi2(i, j, k, l) + pi2(k, l, i, j)) / 2);
          }
        }
      }
    }
    return all;
  }

 private:
  using Sum = std::vector<Product>;

  Sum d(std::size_t i) const {
    const auto x = [](int a, int) { return static_cast<double>(a); };
    const auto y = [](int, int b) { return static_cast<double>(b); };
    const auto xy = [](int a, int b) { return static_cast<double>(a * b); };
    return {{of_covariance_, {{i, xy}}}, {-of_covariance_, {{i, x}, {i, y}}}};
  }
  static Sum p(std::size_t i, bool derived) {
    const double sign = derived ? -1 : 1;
    return {{1, {{i, [sign](int x, int) { return (1 + sign * x) / 2; }}}}};
  }
  static Sum q(std::size_t i, bool derived) {
    const double sign = derived ? -1 : 1;
    return {{1, {{i, [sign](int, int y) { return (1 + sign * y) / 2; }}}}};
  }
  static Sum times(const Sum& a, const Sum& b) {
    Sum products;
    for (const Product& left : a) {
      for (const Product& right : b) {
        Product both = {left.coefficient * right.coefficient, left.slots};
        both.slots.insert(both.slots.end(), right.slots.begin(), right.slots.end());
        products.push_back(both);
      }
    }
    return products;
  }
  double dz(std::size_t i, std::size_t j, std::size_t k) const {
    const Sum z = {{1, {{j, [](int x, int) { return static_cast<double>(x); }}}}};
    const Sum w = {{1, {{k, [](int, int y) { return static_cast<double>(y); }}}}};
    return mean(times(times(d(i), z), w));
  }
  double pi2(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
    double sum = 0;
    for (const bool swap_left : {false, true}) {
      for (const bool swap_right : {false, true}) {
        sum += mean(times(times(p(i, !swap_left), p(j, swap_left)),
                          times(q(k, !swap_right), q(l, swap_right))));
      }
    }
    return sum / 4;
  }

  double mean(const Sum& sum) const {
    double value = 0;
    for (const Product& product : sum) {
      std::vector<std::vector<bool>> used;
      double choices = 1;
      for (const auto& units : units_) used.emplace_back(units.size(), false);
      std::vector<std::size_t> left;
      for (const auto& units : units_) left.push_back(units.size());
      for (const Slot& slot : product.slots) {
        choices *= static_cast<double>(left[slot.population]--);
      }
      value += product.coefficient * total(product.slots, 0, used) / choices;
    }
    return value;
  }

  double total(const std::vector<Slot>& slots, std::size_t from,
               std::vector<std::vector<bool>>& used) const {
    if (from == slots.size()) return 1;
    const Slot& slot = slots[from];
    const auto& units = units_[slot.population];
    double sum = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (used[slot.population][u]) continue;
      const double value = slot.value(units[u].first, units[u].second);
      if (value == 0) continue;
      used[slot.population][u] = true;
      sum += value * total(slots, from + 1, used);
      used[slot.population][u] = false;
    }
    return sum;
  }

  double of_covariance_;
  std::vector<std::vector<std::pair<int, int>>> units_;
};

// At each site populations vary and have four called units or more; a pair may have fewer.
Values random_values(std::size_t sites, const std::vector<std::size_t>& units, UnitKind kind,
                     double missing) {
  std::mt19937 random(7);
  const auto draw = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto varies = [](const std::vector<int>& drawn) {
    const std::set<int> found(drawn.begin(), drawn.end());
    return found.size() - found.count(kMissing) > 1;
  };
  Values values(sites);
  for (auto& site : values) {
    for (const std::size_t n : units) {
      std::vector<int> drawn(n);
      do {
        for (int& x : drawn) {
          x = kind == UnitKind::kHaplotypes ? 1 - 2 * draw(2) : 1 - draw(2) - draw(2);
          if (draw(1000) < 1000 * missing) x = kMissing;
        }
      } while (n - std::count(drawn.begin(), drawn.end(), kMissing) < 4 || !varies(drawn));
      site.push_back(drawn);
    }
  }
  return values;
}

SitePlanes packed(const Values& values, UnitKind kind) {
  std::vector<std::int64_t> sizes;
  for (const auto& units : values[0]) sizes.push_back(static_cast<std::int64_t>(units.size()));
  SitePlanes planes(sizes, kind);
  for (const auto& site : values) {
    planes.begin();
    for (std::size_t k = 0; k < site.size(); ++k) {
      for (std::size_t u = 0; u < site[k].size(); ++u) {
        if (site[k][u] != kMissing) planes.set(k, static_cast<std::int64_t>(u), site[k][u]);
      }
    }
    EXPECT_EQ(planes.close(), FilterStatus::kKept);
  }
  return planes;
}

// Sites of two chromosomes, 0.1 Morgans apart from one to the next.
PairedSites placed(const SitePlanes& planes, std::int64_t of_first) {
  PairedSites sites = {&planes, {}, {}, {}, {}};
  for (std::int64_t i = 0; i < planes.size(); ++i) {
    sites.chromosome.push_back(i < of_first ? 0 : 1);
    sites.position.push_back(10 * i);
    sites.morgans.push_back(0.1 * static_cast<double>(i));
    sites.block.push_back(i < of_first ? 0 : 1);
  }
  return sites;
}

void expect_oracle(UnitKind kind, const std::vector<std::size_t>& units, double missing) {
  constexpr std::size_t n = 9;
  constexpr std::int64_t of_first = 5;
  const Values values = random_values(n, units, kind, missing);
  const SitePlanes planes = packed(values, kind);
  const PairBins bins = {{0.05, 0.15, 0.35}, 2};
  JobControl control;
  const PairSums found = sum_pairs(placed(planes, of_first), bins, 1, SimdLevel::kScalar, control);

  std::vector<double> sums(found.sums.size());
  std::vector<std::int64_t> pairs(found.pairs.size());
  for (std::size_t left = 0; left < n; ++left) {
    for (std::size_t right = left + 1; right < n; ++right) {
      const std::size_t steps = right - left;
      const std::size_t block = left < of_first ? 0 : 1;
      if (steps > 3 || block != (right < of_first ? 0U : 1U)) continue;
      const Oracle oracle(values, left, right, kind);
      if (oracle.is_small()) continue;
      const std::size_t row = block * 2 + (steps > 1 ? 1 : 0);
      ++pairs[row];
      const std::vector<double> statistics = oracle.statistics();
      ASSERT_EQ(statistics.size(), found.statistics);
      for (std::size_t s = 0; s < statistics.size(); ++s) {
        sums[row * found.statistics + s] += statistics[s];
      }
    }
  }
  EXPECT_EQ(found.pairs, pairs);
  for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_NEAR(found.sums[k], sums[k], 1e-12) << k;
}

TEST(PairSums, AreMeansOverDifferentUnits) {
  for (const UnitKind kind : {UnitKind::kGenotypes, UnitKind::kHaplotypes}) {
    expect_oracle(kind, {6}, 0);
    expect_oracle(kind, {7}, 0.2);
    expect_oracle(kind, {5, 4}, 0);
    expect_oracle(kind, {7, 6}, 0.12);
  }
  expect_oracle(UnitKind::kGenotypes, {4, 4, 4}, 0);
}

// The mean over all samples of n haplotypes, of four kinds, is the value of their shares.
void expect_unbiased(std::size_t n) {
  const std::vector<double> shares = {0.4, 0.15, 0.2, 0.25};  // of 00, 01, 10 and 11
  std::vector<double> means(3);
  std::size_t samples = 1;
  for (std::size_t u = 0; u < n; ++u) samples *= 4;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    Values values(2, {std::vector<int>(n)});
    double chance = 1;
    for (std::size_t u = 0, rest = sample; u < n; ++u, rest /= 4) {
      chance *= shares[rest % 4];
      values[0][0][u] = rest % 4 < 2 ? 1 : -1;
      values[1][0][u] = rest % 2 == 0 ? 1 : -1;
    }
    SitePlanes planes({static_cast<std::int64_t>(n)}, UnitKind::kHaplotypes);
    bool varies = true;
    for (const auto& site : values) {
      planes.begin();
      for (std::size_t u = 0; u < n; ++u) planes.set(0, static_cast<std::int64_t>(u), site[0][u]);
      varies = planes.close() == FilterStatus::kKept && varies;
    }
    if (!varies) continue;  // all statistics are 0
    JobControl control;
    const PairSums found =
        sum_pairs(placed(planes, 2), {{0, 1}, 1}, 1, SimdLevel::kScalar, control);
    for (std::size_t s = 0; s < means.size(); ++s) means[s] += chance * found.sums[s];
  }
  const double d = 0.25 * 0.4 - 0.15 * 0.2;
  const double p = 0.45;
  const double q = 0.4;
  EXPECT_NEAR(means[0], d * d, 1e-12);
  EXPECT_NEAR(means[1], d * (1 - 2 * p) * (1 - 2 * q), 1e-12);
  EXPECT_NEAR(means[2], p * (1 - p) * q * (1 - q), 1e-12);
}

TEST(PairSums, AreUnbiasedOfHaplotypes) {
  expect_unbiased(4);
  expect_unbiased(5);
}

TEST(PairSums, PopulationsMayFillSeveralWords) {
  // Copies of four units have the same frequencies, so only the corrections for their number
  // differ. A population of 4 and one of 260 copies then agree where units are not corrected for.
  const Values few = random_values(8, {4, 4}, UnitKind::kGenotypes, 0);
  Values many = few;
  for (auto& site : many) {
    for (int copy = 1; copy < 65; ++copy) {
      site[0].insert(site[0].end(), few[&site - &many[0]][0].begin(),
                     few[&site - &many[0]][0].end());
    }
  }
  const SitePlanes of_few = packed(few, UnitKind::kGenotypes);
  const SitePlanes of_many = packed(many, UnitKind::kGenotypes);
  JobControl control;
  const PairBins bins = {{0, 10}, 2};
  const PairSums a = sum_pairs(placed(of_few, 8), bins, 1, best_simd_level(), control);
  const PairSums b = sum_pairs(placed(of_many, 8), bins, 1, best_simd_level(), control);
  // D of n units is n / (n - 1) times their covariance.
  const std::size_t dd01 = 1;
  EXPECT_NEAR(b.sums[dd01], a.sums[dd01] * (3.0 / 4) * (260.0 / 259), 1e-12);
  EXPECT_NEAR(a.heterozygosity[1], b.heterozygosity[1], 1e-12);
}

TEST(PairSums, ThreadsAndLevelsGiveTheSameBytes) {
  const Values values = random_values(400, {70, 33}, UnitKind::kGenotypes, 0.05);
  const SitePlanes planes = packed(values, UnitKind::kGenotypes);
  const PairedSites sites = placed(planes, 250);
  const PairBins bins = {{0, 0.5, 1, 5, 20}, 2};
  JobControl control;
  const PairSums one = sum_pairs(sites, bins, 1, SimdLevel::kScalar, control);
  for (const SimdLevel level : test::simd_levels()) {
    const PairSums other = sum_pairs(sites, bins, 3, level, control);
    EXPECT_EQ(one.sums, other.sums);
    EXPECT_EQ(one.pairs, other.pairs);
    EXPECT_EQ(one.heterozygosity, other.heterozygosity);
  }
}

TEST(PairSums, LeaveOutSitesAndPairsAtOnePosition) {
  const Values values = random_values(6, {8}, UnitKind::kGenotypes, 0);
  const SitePlanes planes = packed(values, UnitKind::kGenotypes);
  PairedSites sites = placed(planes, 6);
  sites.position[1] = sites.position[0];
  sites.morgans[1] = sites.morgans[0];
  sites.chromosome[5] = kLeftOut;
  JobControl control;
  const PairSums found = sum_pairs(sites, {{0, 10}, 1}, 1, SimdLevel::kScalar, control);
  EXPECT_EQ(found.pairs[0], 9);  // of five sites, less one
}

TEST(PairSums, HavePairsAtTheLowerLimitInSpiteOfRounding) {
  constexpr std::size_t n = 60;
  const Values values = random_values(n, {8}, UnitKind::kGenotypes, 0);
  const SitePlanes planes = packed(values, UnitKind::kGenotypes);
  PairedSites sites = placed(planes, n);
  for (const double rate : {1e-8, 1.3e-8, 1e-11}) {
    for (std::size_t i = 0; i < n; ++i) {
      sites.position[i] = 200000000 + 1000 * static_cast<std::int64_t>(i);
      sites.morgans[i] = rate * static_cast<double>(sites.position[i]);
      sites.chromosome[i] = 0;
    }
    JobControl control;
    const PairBins bins = {{1000 * rate, 2000 * rate, 5000 * rate, 10000 * rate}, 2};
    const PairSums found = sum_pairs(sites, bins, 1, SimdLevel::kScalar, control);
    // Of distances 1, then 2 to 4, then 5 to 9
    const std::vector<std::int64_t> expected = {59, 58 + 57 + 56, 55 + 54 + 53 + 52 + 51};
    for (std::size_t bin = 0; bin < 3; ++bin) {
      EXPECT_EQ(found.pairs[bin] + found.pairs[3 + bin], expected[bin]);
    }
  }
}

TEST(SitePlanes, TakeAwayFixedAndSmallSites) {
  SitePlanes planes({5, 4}, UnitKind::kGenotypes);
  const auto add = [&](int first, int second, std::int64_t n) {
    planes.begin();
    for (std::int64_t u = 0; u < n; ++u) {
      planes.set(0, u, first);
      if (u < 4) planes.set(1, u, second);
    }
    return planes.close();
  };
  EXPECT_EQ(add(1, 1, 5), FilterStatus::kFixed);
  EXPECT_EQ(add(-1, -1, 5), FilterStatus::kFixed);
  EXPECT_EQ(add(1, -1, 5), FilterStatus::kKept);
  EXPECT_EQ(add(0, 0, 5), FilterStatus::kKept);
  EXPECT_EQ(add(1, -1, 3), FilterStatus::kTooFew);
  EXPECT_EQ(planes.size(), 2);
}

TEST(LdStatistics, AreAsManyAsTheNamesSay) {
  EXPECT_EQ(ld_statistics(1).sums.size(), 3U);
  EXPECT_EQ(ld_statistics(2).sums.size(), 15U);
  EXPECT_EQ(ld_statistics(3).sums.size(), 45U);
}

}  // namespace
}  // namespace ancify
