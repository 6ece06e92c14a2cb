// Checks site frequency spectra against plain sums.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/exec/errors.h"
#include "core/spectra/hypergeometric.h"
#include "core/spectra/joint_spectrum.h"
#include "core/spectra/misidentification.h"
#include "core/spectra/populations.h"
#include "core/spectra/site_table.h"
#include "core/spectra/variant_sites.h"
#include "support.h"

namespace ancify {
namespace {

long double choose(int n, int k) {
  if (k < 0 || k > n) return 0;
  long double result = 1;
  for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

// The probability that k of m drawn haplotypes are derived.
double slow_weight(AlleleCount count, int m, int k) {
  return static_cast<double>(choose(m, k) * choose(count.called - m, count.derived - k) /
                             choose(count.called, count.derived));
}

struct Sites {
  std::vector<std::vector<int>> derived;
  std::vector<std::vector<int>> called;
  std::vector<double> posterior;
  std::vector<int> window;

  SiteColumns columns() const {
    SiteColumns result = {
        static_cast<std::int64_t>(window.size()), {}, {}, posterior.data(), window.data()};
    if (posterior.empty()) result.posterior = nullptr;
    for (const auto& column : derived) result.derived.push_back(column.data());
    for (const auto& column : called) result.called.push_back(column.data());
    return result;
  }
};

Sites random_sites(std::size_t n, const std::vector<int>& haplotypes, int windows, bool certain,
                   std::mt19937& random) {
  Sites sites;
  std::uniform_real_distribution<double> uniform;
  for (const int most : haplotypes) {
    std::vector<int> derived;
    std::vector<int> called;
    for (std::size_t i = 0; i < n; ++i) {
      called.push_back(most - static_cast<int>(random() % 4));
      derived.push_back(static_cast<int>(random() % (static_cast<unsigned>(called.back()) + 1)));
    }
    sites.derived.push_back(derived);
    sites.called.push_back(called);
  }
  for (std::size_t i = 0; i < n; ++i) {
    sites.window.push_back(static_cast<int>(random() % static_cast<unsigned>(windows)));
    if (!certain) sites.posterior.push_back(random() % 5 == 0 ? 1 : uniform(random));
  }
  return sites;
}

std::vector<double> slow_spectrum(const Sites& sites, const std::vector<int>& sizes,
                                  const std::vector<int>& draws) {
  std::size_t cells = 1;
  for (const int size : sizes) cells *= static_cast<std::size_t>(size) + 1;
  std::vector<double> spectrum(cells);
  for (std::size_t i = 0; i < sites.window.size(); ++i) {
    for (const bool swap : {false, true}) {
      const double posterior = sites.posterior.empty() ? 1 : sites.posterior[i];
      for (std::size_t cell = 0; cell < cells; ++cell) {
        double weight =
            draws[static_cast<std::size_t>(sites.window[i])] * (swap ? 1 - posterior : posterior);
        std::size_t rest = cell;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
          const auto along = static_cast<std::size_t>(sizes[k]) + 1;
          AlleleCount count = {sites.called[k][i], sites.derived[k][i]};
          if (count.called < sizes[k]) {
            weight = 0;
            break;
          }
          if (swap) count.derived = count.called - count.derived;
          weight *= slow_weight(count, sizes[k], static_cast<int>(rest % along));
          rest /= along;
        }
        spectrum[cell] += weight;
      }
    }
  }
  return spectrum;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-12 * (1 + expected[i])) << "cell " << i;
  }
}

TEST(Hypergeometric, IsWhatBinomialCoefficientsSay) {
  for (int called = 1; called <= 12; ++called) {
    for (int derived = 0; derived <= called; ++derived) {
      for (int size = 1; size <= called; ++size) {
        std::vector<double> room(projected_numbers({called, derived}, size));
        const auto weights = project_count({called, derived}, size, room.data());
        for (int k = 0; k <= size; ++k) {
          const bool inside = k >= weights.first && k < weights.first + static_cast<int>(weights.n);
          EXPECT_NEAR(inside ? weights.weights[k - weights.first] : 0,
                      slow_weight({called, derived}, size, k), 1e-15);
        }
      }
    }
  }
}

TEST(Hypergeometric, LargeSamplesKeepTheirMean) {
  for (const AlleleCount count :
       {AlleleCount{1000000, 1}, AlleleCount{1000000, 400000}, AlleleCount{5008, 5007}}) {
    std::vector<double> room(projected_numbers(count, 5000));
    const auto weights = project_count(count, 5000, room.data());
    double mean = 0;
    for (std::size_t k = 0; k < weights.n; ++k) {
      ASSERT_TRUE(std::isfinite(weights.weights[k]));
      mean += (weights.first + static_cast<double>(k)) * weights.weights[k];
    }
    EXPECT_NEAR(mean / (5000.0 * count.derived / count.called), 1, 1e-12);
  }
}

TEST(Hypergeometric, TooManyWeightsAreComputedWhenTheyAreWanted) {
  const std::vector<AlleleCount> counts = {{10, 3}, {12, 0}, {11, 7}};
  const ProjectionCache remembered(counts, 6);
  const ProjectionCache anew(counts, 6, 5);
  std::vector<double> room(7);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto a = remembered.weights(i, nullptr);
    const auto b = anew.weights(i, room.data());
    EXPECT_EQ(a.first, b.first);
    ASSERT_EQ(a.n, b.n);
    EXPECT_TRUE(std::equal(a.weights, a.weights + a.n, b.weights));
  }
}

TEST(SiteTable, PutsEqualSitesTogetherAndCountsThoseWithTooFew) {
  SiteTable table({4, 2});
  const auto add = [&](AlleleCount a, AlleleCount b, double posterior, int window) {
    const AlleleCount counts[] = {a, b};
    table.add(counts, posterior, window);
  };
  add({5, 2}, {2, 0}, 1, 0);
  add({5, 2}, {2, 0}, 0.75, 0);
  add({5, 2}, {2, 0}, 1, 1);
  add({3, 2}, {2, 0}, 1, 0);
  add({3, 2}, {1, 0}, 1, 0);
  EXPECT_EQ(table.sites(), 5);
  EXPECT_EQ(table.used(), 3);
  EXPECT_EQ(table.too_few(), (std::vector<std::int64_t>{2, 1}));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.as_counted(0), 1.75);
  EXPECT_EQ(table.swapped(0), 0.25);
  EXPECT_EQ(table.count(0, 0).called, 5);
  EXPECT_EQ(table.count(0, 0).derived, 2);
  EXPECT_EQ(table.window(1), 1);
}

TEST(SiteTable, GrowsWithoutLoss) {
  SiteTable table({1});
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int called = 1; called < 200; ++called) {
      for (int derived = 0; derived <= called; ++derived) {
        const AlleleCount count = {called, derived};
        table.add(&count, 0.5, 3);
      }
    }
  }
  EXPECT_EQ(table.size(), 200U * 201 / 2 - 1);
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(table.as_counted(i), 1);
}

TEST(SiteTable, OfAllSitesGivesThoseOfAnySizes) {
  std::mt19937 random(4);
  const Sites sites = random_sites(500, {5, 6}, 3, false, random);
  JobControl control;
  const SiteTable all = tabulate_sites(sites.columns(), {0, 0}, 1, control);
  EXPECT_EQ(all.used(), 500);
  EXPECT_EQ(all.most_called(), (std::vector<int>{5, 6}));
  const SiteTable table = all.projected_to({4, 5});
  const SiteTable direct = tabulate_sites(sites.columns(), {4, 5}, 1, control);
  EXPECT_EQ(table.sites(), direct.sites());
  EXPECT_EQ(table.used(), direct.used());
  EXPECT_EQ(table.too_few(), direct.too_few());
  ASSERT_EQ(table.size(), direct.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.window(i), direct.window(i));
    EXPECT_EQ(table.as_counted(i), direct.as_counted(i));
    EXPECT_EQ(table.swapped(i), direct.swapped(i));
  }
}

TEST(Misidentification, IsOfSitesThatVaryAndHaveEnoughCalled) {
  Misidentification errors(2, 3);
  const auto add = [&](AlleleCount a, AlleleCount b, double posterior, std::size_t kind) {
    const AlleleCount counts[] = {a, b};
    errors.add(counts, posterior, kind);
  };
  add({4, 1}, {2, 0}, 0.75, 0);
  add({4, 3}, {2, 1}, 0.5, 0);
  add({3, 1}, {2, 1}, 1, 0);
  add({4, 0}, {2, 0}, 0.5, 0);
  add({4, 4}, {2, 2}, 0.5, 1);
  add({4, 4}, {2, 1}, 0.25, 2);
  const auto sums = errors.of_sizes({4, 2});
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0].sites, 2);
  EXPECT_EQ(sums[0].errors, 0.75);
  EXPECT_EQ(sums[0].variance, 0.1875 + 0.25);
  EXPECT_EQ(sums[1].sites, 0);
  EXPECT_EQ(sums[2].errors, 0.75);
  EXPECT_EQ(errors.of_sizes({3, 1})[0].sites, 3);
}

TEST(ReadPopulations, TakesTabsOrBlanks) {
  test::TempDir dir;
  const auto read = [&](const std::string& text) { return read_populations(dir.write("p", text)); };
  const auto table = read("\xef\xbb\xbf# x\n\na b\tYRI \r\nc  CEU  more\n d\tX Y\tZ");
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].sample, "a b");
  EXPECT_EQ(table[0].population, "YRI");
  EXPECT_EQ(table[1].population, "CEU");
  EXPECT_EQ(table[2].sample, "d");
  EXPECT_EQ(table[2].population, "X Y");
  EXPECT_TRUE(read("").empty());
  for (const char* bad : {"a\n", "a\t\n", "\tYRI\n", "a A\na B\n", "a \xff\n"}) {
    EXPECT_THROW(read(bad), FormatError) << bad;
  }
}

#ifdef ANCIFY_HAVE_HTSLIB

TEST(TabulateVariants, MakesSitesOfRecords) {
  test::TempDir dir;
  VariantSitesOptions options;
  options.variants = dir.write("v.vcf",
                               "##fileformat=VCFv4.2\n"
                               "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
                               "1\t5\t.\tA\tC\t.\t.\tAA=A\tGT\t0/1\t1|1\t1\n"
                               "1\t15\t.\tG\ta\t.\t.\tAA=a\tGT\t0/.\t1|1\t1/1\n"
                               "1\t19\t.\tG\tG\t.\t.\tAA=G\tGT\t0/.\t1|1\t1/1\n"
                               "2\t1\t.\tC\tT\t.\t.\tAA=T|||\tDP\t1\t2\t3\n"
                               "2\t2\t.\tR\tT\t.\t.\tAA=T\tGT\t0\t0\t0\n");
  options.populations = {1, kNoPopulation, 0};
  options.n_populations = 2;
  options.window = 10;
  JobControl control;
  const VariantSites sites = tabulate_variants(options, control);
  ASSERT_EQ(sites.table.size(), 3U);
  EXPECT_EQ(sites.table.count(0, 0), (AlleleCount{1, 1}));
  EXPECT_EQ(sites.table.count(0, 1), (AlleleCount{2, 1}));
  EXPECT_EQ(sites.table.count(1, 0), (AlleleCount{2, 0}));
  EXPECT_EQ(sites.table.count(1, 1), (AlleleCount{1, 1}));
  EXPECT_EQ(sites.table.count(2, 0), (AlleleCount{0, 0}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sites.table.window(static_cast<std::size_t>(i)), i);
  EXPECT_EQ(sites.windows, 3);
  EXPECT_EQ(sites.monomorphic, 1);
  EXPECT_EQ(sites.chromosomes.at(1).reasons[static_cast<std::size_t>(Reason::kIndel)], 1);
  EXPECT_EQ(sites.chromosomes.at(0).reasons[static_cast<std::size_t>(Reason::kLow)], 1);
  EXPECT_EQ(sites.chromosomes.size(), 2U);
  const auto errors = sites.errors.of_sizes({1, 1});
  const auto unknown = static_cast<std::size_t>(CpgState::kUnknown);
  EXPECT_EQ(errors[0 * kCpgStates + unknown].sites, 1);  // A>C
  EXPECT_EQ(errors[1 * kCpgStates + unknown].sites, 1);  // A>G
  EXPECT_EQ(control.done(), control.expected());
  control.request_stop();
  EXPECT_THROW(tabulate_variants(options, control), Interrupted);
}

#endif

TEST(JointSpectrum, IsWhatSiteBySiteProjectionGives) {
  std::mt19937 random(1);
  for (const std::vector<int>& haplotypes :
       {std::vector<int>{9}, {6, 8}, {4, 5, 6}, {3, 4, 3, 4}, {3, 3, 4, 3, 3}}) {
    for (const bool certain : {false, true}) {
      const Sites sites = random_sites(150, haplotypes, 5, certain, random);
      for (const int fewer : {0, 2}) {
        std::vector<int> sizes;
        for (const int most : haplotypes) sizes.push_back(std::max(1, most - fewer));
        JobControl control;
        const SiteTable table = tabulate_sites(sites.columns(), sizes, 2, control);
        const std::vector<int> draws = {1, 0, 3, 0, 1};
        const auto expected = slow_spectrum(sites, sizes, {1, 1, 1, 1, 1});
        std::vector<double> spectrum(expected.size());
        std::vector<double> drawn(expected.size());
        joint_spectra(table, draws.data(), 5, 1, spectrum.data(), drawn.data(), 2, control);
        expect_near(spectrum, expected);
        expect_near(drawn, slow_spectrum(sites, sizes, draws));
      }
    }
  }
}

TEST(JointSpectrum, IsTheSameAtAnyNumberOfThreads) {
  std::mt19937 random(2);
  const Sites sites = random_sites(300000, {20, 30}, 40, false, random);
  const std::vector<int> draws(400, 1);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 5}) {
    JobControl control;
    const SiteTable table = tabulate_sites(sites.columns(), {18, 27}, threads, control);
    std::vector<double> spectrum(19 * 28);
    std::vector<double> bootstrap(10 * spectrum.size());
    joint_spectra(table, draws.data(), 40, 10, spectrum.data(), bootstrap.data(), threads, control);
    EXPECT_TRUE(std::equal(spectrum.begin(), spectrum.end(), bootstrap.begin()));
    spectrum.insert(spectrum.end(), bootstrap.begin(), bootstrap.end());
    results.push_back(spectrum);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(JointSpectrum, CanBeStopped) {
  std::mt19937 random(3);
  const Sites sites = random_sites(1000, {6}, 1, true, random);
  JobControl control;
  const SiteTable table = tabulate_sites(sites.columns(), {4}, 1, control);
  control.request_stop();
  EXPECT_THROW(tabulate_sites(sites.columns(), {4}, 1, control), Interrupted);
  std::vector<double> spectrum(5);
  EXPECT_THROW(joint_spectra(table, nullptr, 0, 0, spectrum.data(), nullptr, 1, control),
               Interrupted);
}

TEST(JointSpectrum, NoSitesAreNothing) {
  JobControl control;
  std::vector<double> spectrum(5, 1);
  joint_spectra(SiteTable({4}), nullptr, 0, 0, spectrum.data(), nullptr, 1, control);
  EXPECT_EQ(spectrum, std::vector<double>(5));
}

}  // namespace
}  // namespace ancify
