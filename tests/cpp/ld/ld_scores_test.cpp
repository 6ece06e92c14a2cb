// LD scores against correlations by plain loops.
#include "core/ld/ld_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/ld/site_planes.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {
namespace {

// r^2 over the samples with calls at both variants, and their number; NaN without variation.
struct Correlation {
  double r2;
  double n;
};

Correlation correlate(const Calls& calls, const GenotypeSelection& selection, std::size_t a,
                      std::size_t b) {
  const auto& first = calls.of_variants[static_cast<std::size_t>(selection.variants[a])];
  const auto& second = calls.of_variants[static_cast<std::size_t>(selection.variants[b])];
  std::vector<std::pair<double, double>> both;
  double x = 0;
  double y = 0;
  for (const std::int64_t sample : selection.samples) {
    const unsigned one = first[static_cast<std::size_t>(sample)];
    const unsigned other = second[static_cast<std::size_t>(sample)];
    if (one == kMissingCall || other == kMissingCall) continue;
    both.emplace_back(one, other);
    x += one;
    y += other;
  }
  const auto n = static_cast<double>(both.size());
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const auto& [one, other] : both) {
    xx += (one - x / n) * (one - x / n);
    yy += (other - y / n) * (other - y / n);
    xy += (one - x / n) * (other - y / n);
  }
  if (n == 0 || xx < 1e-9 || yy < 1e-9) return {std::nan(""), n};
  return {xy * xy / (xx * yy), n};
}

using Correlations = std::vector<std::vector<Correlation>>;

Correlations correlate_all(const Calls& calls, const GenotypeSelection& selection) {
  const std::size_t n = selection.variants.size();
  Correlations all(n, std::vector<Correlation>(n));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      all[a][b] = correlate(calls, selection, a, b);
      all[b][a] = all[a][b];
    }
  }
  return all;
}

void expect_scores(const Correlations& pairs, const std::vector<std::int64_t>& ends,
                   const LdScores& found) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    double score = 0;
    double corrected = 0;
    double n_variants = 0;
    for (std::size_t j = 0; j < ends.size(); ++j) {
      if (ends[std::min(i, j)] <= static_cast<std::int64_t>(std::max(i, j))) continue;
      const Correlation& pair = pairs[i][j];
      if (std::isnan(pair.r2)) continue;
      score += pair.r2;
      corrected += pair.r2 - (pair.n > 2 ? (1 - pair.r2) / (pair.n - 2) : 0);
      n_variants += 1;
    }
    EXPECT_NEAR(found.score[i], score, 1e-10);
    EXPECT_NEAR(found.corrected[i], corrected, 1e-10);
    EXPECT_EQ(found.n_variants[i], n_variants);
  }
}

std::vector<std::int64_t> windows(std::int64_t n, std::int64_t width) {
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < n; ++i) ends.push_back(std::min(n, (i + 3) / 3 * 3 + width));
  return ends;
}

// The bytes of so many packed variants.
std::int64_t bytes_of(std::int64_t variants, std::size_t samples) {
  const auto words = static_cast<std::int64_t>((samples + 511) / 512 * 8);
  return variants * (3 * 8 * words + static_cast<std::int64_t>(sizeof(UnitSums)));
}

void expect_same_by_every_way(const Calls& calls, const GenotypeSelection& selection) {
  const MemoryGenotypes file(calls);
  const Correlations pairs = correlate_all(calls, selection);
  const auto n = static_cast<std::int64_t>(selection.variants.size());
  for (const std::int64_t width : {0, 10, 60, 1000}) {
    const auto ends = windows(n, width);
    JobControl control;
    const LdScores whole =
        ld_scores(file, selection, ends, 1 << 30, SimdLevel::kScalar, 1, control);
    expect_scores(pairs, ends, whole);
    // A tile of 64 variants and its windows
    const std::int64_t least = bytes_of(std::min(n, 66 + width), selection.samples.size());
    for (const SimdLevel simd : simd_levels()) {
      for (const std::int64_t memory : {least, std::int64_t{1} << 30}) {
        const LdScores found = ld_scores(file, selection, ends, memory, simd, 3, control);
        EXPECT_EQ(found.score, whole.score);
        EXPECT_EQ(found.corrected, whole.corrected);
        EXPECT_EQ(found.n_variants, whole.n_variants);
      }
    }
  }
}

TEST(LdScores, AreThoseOfPlainLoopsByEveryWay) {
  for (const double missing : {0.0, 0.2}) {
    for (const std::int64_t samples : {5, 130, 2100}) {
      const std::int64_t variants = samples < 1000 ? 150 : 70;
      const Calls calls = Calls::random(samples, variants, missing, static_cast<unsigned>(samples));
      GenotypeSelection selection = {first_numbers(samples), first_numbers(variants)};
      expect_same_by_every_way(calls, selection);
      std::reverse(selection.samples.begin(), selection.samples.end());
      selection.samples.pop_back();
      selection.variants.erase(selection.variants.begin() + 7);
      expect_same_by_every_way(calls, selection);
    }
  }
}

TEST(LdScores, OfRareVariantsLeaveOutConstantPairs) {
  const Calls calls = Calls::rare(300, 120, 3);
  expect_same_by_every_way(calls, {first_numbers(300), first_numbers(120)});
}

TEST(LdScores, RefuseWindowsThatDoNotFit) {
  const MemoryGenotypes file(Calls::random(100, 50, 0, 1));
  const GenotypeSelection selection = {first_numbers(100), first_numbers(50)};
  JobControl control;
  const auto run = [&](const std::vector<std::int64_t>& ends, std::int64_t memory) {
    return ld_scores(file, selection, ends, memory, SimdLevel::kScalar, 1, control);
  };
  EXPECT_THROW(run(windows(50, 10), 1000), InputError);
  EXPECT_THROW(run(windows(49, 10), 1 << 20), InputError);
  EXPECT_THROW(run(first_numbers(50), 1 << 20), InputError);
}

TEST(LdScores, OfNothingAreEmpty) {
  const MemoryGenotypes file(Calls::random(10, 5, 0, 1));
  JobControl control;
  EXPECT_TRUE(ld_scores(file, {first_numbers(10), {}}, {}, 0, SimdLevel::kScalar, 1, control)
                  .score.empty());
  const LdScores found =
      ld_scores(file, {{}, {0, 1}}, {2, 2}, 1 << 20, SimdLevel::kScalar, 1, control);
  EXPECT_EQ(found.n_variants, std::vector<double>(2));
}

}  // namespace
}  // namespace ancify
