// Products of the pass that reads the genotypes, against products of genotypes read before.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/standardise.h"
#include "genotypes/counted_reads.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/memory_genotypes.h"
#include "genotypes/multiplied.h"

namespace ancify {
namespace {

using Vector = std::vector<double>;
using MakeFile = std::function<std::unique_ptr<GenotypeFile>()>;

constexpr std::int64_t kSamples = 301;
constexpr std::int64_t kVariants = 1100;

std::vector<MakeFile> files() {
  const auto of_calls = [](const Calls& calls) {
    return [calls] { return std::make_unique<MemoryGenotypes>(calls); };
  };
  return {of_calls(Calls::random(kSamples, kVariants, 0.03, 1)),
          of_calls(Calls::rare(kSamples, kVariants, 2)), [] {
            return std::make_unique<MemoryDosages>(
                Dosages::random(kSamples, kVariants, 0.02, {1, 255, kMostUnit}, 3));
          }};
}

// Genotypes that have not been read, and the number of variants that have been.
struct Unread {
  Unread(const MakeFile& make, const GenotypeWork& work)
      : reads(std::make_shared<std::atomic<std::int64_t>>(0)),
        matrix(std::make_unique<CountedReads>(make(), reads),
               {first_numbers(kSamples), first_numbers(kVariants)}, work) {}
  CountedReads::Count reads;
  GenotypeMatrix matrix;
};

// Enough for a block or two, or for all.
std::vector<std::int64_t> memories(const MakeFile& make) {
  return {make()->gives_dosages() ? 900000 : 42000, 0};
}

bool same(const VariantMoments& a, const VariantMoments& b) {
  return a.observed == b.observed && a.mean == b.mean && a.variance == b.variance;
}

TEST(FirstPass, HasTheProductsOfGenotypesThatWereReadBefore) {
  for (const MakeFile& make : files()) {
    for (const std::int64_t memory : memories(make)) {
      for (const int columns : {1, 6}) {
        const Vector v = random_numbers(kSamples * columns, 4);
        Unread before(make, {1, SimdLevel::kScalar, 0});
        JobControl control;
        before.matrix.read(control);
        const Products expected =
            multiplied(standardise(before.matrix, -1), v, columns, ProductBits::k56);
        for (const int threads : {1, 3}) {
          const Unread one(make, {threads, best_simd_level(), memory});
          const GenotypeProducts products = standardise(one.matrix, -1);
          const Products first = multiplied(products, v, columns, ProductBits::k56);
          EXPECT_EQ(*one.reads, kVariants);
          EXPECT_EQ(one.matrix.resident(), memory == 0);
          ASSERT_EQ(first.t, expected.t);
          ASSERT_EQ(first.out, expected.out);
          EXPECT_EQ(products.scales(), standardise(before.matrix, -1).scales());
          for (std::size_t j = 0; j < static_cast<std::size_t>(kVariants); ++j) {
            ASSERT_TRUE(same(one.matrix.moments()[j], before.matrix.moments()[j]));
          }
          const Products second = multiplied(products, v, columns, ProductBits::k56);
          EXPECT_EQ(second.out, expected.out);
          EXPECT_EQ(*one.reads, memory == 0 ? kVariants : 2 * kVariants);
        }
      }
    }
  }
}

TEST(FirstPass, ReadsAllBlocksAndUsesTheWantedOnes) {
  for (const MakeFile& make : files()) {
    for (const std::int64_t memory : memories(make)) {
      const Unread one(make, {2, SimdLevel::kScalar, memory});
      JobControl control;
      std::vector<std::int64_t> used;
      const auto pass = [&] {
        used.clear();
        one.matrix.for_each_stored_tile(
            control, [](std::int64_t block) { return block % 2 == 1; },
            [&](const StoredTile& tile) {
              for (std::size_t i = 0; i < tile.blocks.size(); ++i) {
                used.push_back(tile.first_block + static_cast<std::int64_t>(i));
              }
            });
      };
      pass();
      EXPECT_EQ(used, (std::vector<std::int64_t>{1, 3}));
      EXPECT_EQ(*one.reads, kVariants);
      pass();
      EXPECT_EQ(used, (std::vector<std::int64_t>{1, 3}));
    }
  }
}

TEST(FirstPass, StartsAfreshAfterOneThatWasStopped) {
  for (const MakeFile& make : files()) {
    for (const std::int64_t memory : memories(make)) {
      const Unread one(make, {2, SimdLevel::kScalar, memory});
      const GenotypeProducts products = standardise(one.matrix, 0);
      JobControl stopped;
      const auto all = [](std::int64_t) { return true; };
      EXPECT_THROW(one.matrix.for_each_stored_tile(stopped, all,
                                                   [](const StoredTile&) { throw Interrupted(); }),
                   Interrupted);
      EXPECT_FALSE(one.matrix.is_read());
      const Vector v = random_numbers(kSamples, 5);
      const Unread other(make, {1, SimdLevel::kScalar, 0});
      EXPECT_EQ(multiplied(products, v, 1, ProductBits::k28).out,
                multiplied(standardise(other.matrix, 0), v, 1, ProductBits::k28).out);
    }
  }
}

TEST(FirstPass, ReadsBeforeDenseProducts) {
  for (const MakeFile& make : files()) {
    const Unread one(make, {2, SimdLevel::kScalar, 0});
    Unread before(make, {2, SimdLevel::kScalar, 0});
    JobControl control;
    before.matrix.read(control);
    const Vector factors(kVariants, 0.5);
    Vector found(kSamples * kSamples);
    Vector expected(found.size());
    standardise(one.matrix, -1).outer(control, factors, found.data());
    standardise(before.matrix, -1).outer(control, factors, expected.data());
    EXPECT_EQ(found, expected);
    const Unread third(make, {2, SimdLevel::kScalar, 0});
    EXPECT_EQ(standardise(third.matrix, -1).squares(control, factors),
              standardise(before.matrix, -1).squares(control, factors));
    const Unread fourth(make, {2, SimdLevel::kScalar, 0});
    EXPECT_EQ(standardise(fourth.matrix, -1).quadratic_forms(control, expected.data()),
              standardise(before.matrix, -1).quadratic_forms(control, expected.data()));
  }
}

TEST(FirstPass, TakesGivenMeansAndScales) {
  const Vector means = random_numbers(kVariants, 6);
  const Vector scales = random_numbers(kVariants, 7);
  const Vector v = random_numbers(kSamples, 8);
  for (const MakeFile& make : files()) {
    const Unread one(make, {2, SimdLevel::kScalar, 0});
    Unread before(make, {2, SimdLevel::kScalar, 0});
    JobControl control;
    before.matrix.read(control);
    EXPECT_EQ(multiplied({one.matrix, means, scales}, v, 1, ProductBits::k56).out,
              multiplied({before.matrix, means, scales}, v, 1, ProductBits::k56).out);
  }
}

}  // namespace
}  // namespace ancify
