// Kinship of pairs of samples against plain loops.
#include "core/genotypes/kinship.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exec/errors.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {
namespace {

constexpr double kAll = -std::numeric_limits<double>::infinity();

// Of samples a and b, over the chosen variants
PairCounts count_slowly(const Calls& calls, const std::vector<std::int64_t>& variants,
                        std::int64_t a, std::int64_t b) {
  PairCounts counts;
  for (const std::int64_t variant : variants) {
    const auto& row = calls.of_variants[static_cast<std::size_t>(variant)];
    const unsigned first = row[static_cast<std::size_t>(a)];
    const unsigned second = row[static_cast<std::size_t>(b)];
    if (first == kMissingCall || second == kMissingCall) continue;
    counts.both_heterozygous += first == 1 && second == 1 ? 1 : 0;
    counts.first_heterozygous += first == 1 && second != 1 ? 1 : 0;
    counts.second_heterozygous += first != 1 && second == 1 ? 1 : 0;
    counts.both_homozygous += first != 1 && second != 1 ? 1 : 0;
    counts.opposite += first != 1 && second != 1 && first != second ? 1 : 0;
  }
  return counts;
}

void expect_counts(const PairCounts& found, const PairCounts& expected) {
  EXPECT_EQ(found.both_heterozygous, expected.both_heterozygous);
  EXPECT_EQ(found.first_heterozygous, expected.first_heterozygous);
  EXPECT_EQ(found.second_heterozygous, expected.second_heterozygous);
  EXPECT_EQ(found.both_homozygous, expected.both_homozygous);
  EXPECT_EQ(found.opposite, expected.opposite);
}

TEST(Kinship, CountsAsPlainLoopsByEveryWay) {
  const std::vector<std::int64_t> samples = {20, 3, 4, 5, 19, 0, 1, 2, 10, 11, 12, 7};
  for (const std::int64_t n_variants : {1, 63, 64, 65, 4100}) {
    const Calls calls = Calls::random(21, n_variants, 0.1, static_cast<unsigned>(n_variants));
    const MemoryGenotypes file(calls);
    std::vector<std::int64_t> variants = first_numbers(n_variants);
    std::reverse(variants.begin(), variants.end());
    for (const SimdLevel simd : simd_levels()) {
      for (const std::int64_t memory : {0, 500, 1 << 20}) {
        for (const int threads : {1, 3}) {
          JobControl control;
          const auto pairs =
              related_pairs(file, {samples, variants}, kAll, memory, simd, threads, control);
          auto pair = pairs.begin();
          for (std::size_t a = 0; a < samples.size(); ++a) {
            for (std::size_t b = a + 1; b < samples.size(); ++b) {
              const auto expected = count_slowly(calls, variants, samples[a], samples[b]);
              if (std::isnan(expected.kinship())) continue;
              ASSERT_NE(pair, pairs.end());
              EXPECT_EQ(pair->first, static_cast<std::int64_t>(a));
              EXPECT_EQ(pair->second, static_cast<std::int64_t>(b));
              expect_counts(pair->counts, expected);
              ++pair;
            }
          }
          EXPECT_EQ(pair, pairs.end());
        }
      }
    }
  }
}

TEST(Kinship, IsAHalfOfASampleWithItselfAndAQuarterOfParentAndChild) {
  PairCounts twins;
  twins.both_heterozygous = 40;
  twins.both_homozygous = 60;
  EXPECT_EQ(twins.kinship(), 0.5);
  EXPECT_EQ(twins.variants(), 100U);
  const PairCounts child = {20, 20, 20, 40, 0};
  EXPECT_EQ(child.kinship(), 0.25);
  EXPECT_TRUE(std::isnan(PairCounts{0, 0, 5, 5, 1}.kinship()));
}

TEST(Kinship, GivesPairsFromTheBoundOn) {
  const Calls calls = Calls::random(30, 500, 0, 5);
  const MemoryGenotypes file(calls);
  JobControl control;
  const GenotypeSelection all = {first_numbers(30), first_numbers(500)};
  const auto every = related_pairs(file, all, kAll, 1 << 20, SimdLevel::kScalar, 1, control);
  const double bound = every[100].counts.kinship();
  std::size_t expected = 0;
  for (const RelatedPair& pair : every) expected += pair.counts.kinship() >= bound ? 1 : 0;
  const auto some = related_pairs(file, all, bound, 1 << 20, SimdLevel::kScalar, 1, control);
  EXPECT_EQ(some.size(), expected);
}

TEST(Kinship, OfNoSamplesOrOneHasNoPairs) {
  const MemoryGenotypes file(Calls::random(3, 5, 0, 5));
  JobControl control;
  for (const std::int64_t n : {0, 1}) {
    EXPECT_TRUE(related_pairs(file, {first_numbers(n), first_numbers(5)}, kAll, 1,
                              SimdLevel::kScalar, 1, control)
                    .empty());
  }
  EXPECT_THROW(related_pairs(file, {{5}, {0}}, kAll, 1, SimdLevel::kScalar, 1, control),
               InputError);
}

}  // namespace
}  // namespace ancify
