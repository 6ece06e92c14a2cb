// Packed genotypes and their products against plain loops.
#include "core/genotypes/genotype_products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/errors.h"
#include "genotypes/memory_genotypes.h"
#include "genotypes/multiplied.h"

namespace ancify {
namespace {

GenotypeMatrix matrix_of(const Calls& calls, const GenotypeWork& work,
                         std::vector<std::int64_t> samples = {},
                         std::vector<std::int64_t> variants = {}) {
  JobControl control;
  auto file = std::make_unique<MemoryGenotypes>(calls);
  if (samples.empty()) samples = first_numbers(file->samples());
  if (variants.empty()) variants = first_numbers(file->variants());
  return {std::move(file), {samples, variants}, work, control};
}

TEST(GenotypeMatrix, CountsCalls) {
  for (const std::int64_t n : {1, 3, 64, 65, 257}) {
    const Calls calls = Calls::random(n, 21, 0.2, static_cast<unsigned>(n));
    for (const SimdLevel simd : simd_levels()) {
      const auto matrix = matrix_of(calls, {1, simd, 0});
      for (std::size_t j = 0; j < 21; ++j) {
        const auto& row = calls.of_variants[j];
        const VariantCounts& counts = matrix.counts()[j];
        EXPECT_EQ(counts.one, std::count(row.begin(), row.end(), 1U));
        EXPECT_EQ(counts.two, std::count(row.begin(), row.end(), 2U));
        EXPECT_EQ(counts.missing, std::count(row.begin(), row.end(), kMissingCall));
      }
    }
  }
}

TEST(GenotypeMatrix, TakesSamplesAndVariantsInAnyOrder) {
  const Calls calls = Calls::random(10, 7, 0.2, 1);
  const std::vector<std::int64_t> samples = {9, 0, 4};
  const std::vector<std::int64_t> variants = {6, 2, 3, 4, 0};
  JobControl control;
  for (const std::int64_t memory : {std::int64_t{0}, 64 * kBlockQuads}) {
    const auto matrix = matrix_of(calls, {1, SimdLevel::kScalar, memory}, samples, variants);
    matrix.for_each_tile(
        control, [](std::int64_t) { return true; },
        [&](const GenotypeTile& tile) {
          for (std::size_t j = 0; j < variants.size(); ++j) {
            for (std::size_t i = 0; i < samples.size(); ++i) {
              EXPECT_EQ(call_in_quad(tile.rows(0)[j / kQuad * 64 + i], static_cast<int>(j % kQuad)),
                        calls.of_variants[static_cast<std::size_t>(variants[j])]
                                         [static_cast<std::size_t>(samples[i])]);
            }
          }
        });
  }
}

TEST(GenotypeMatrix, RefusesTooLittleMemory) {
  EXPECT_THROW(matrix_of(Calls::random(10, 7, 0.2, 1), {1, SimdLevel::kScalar, 100}), InputError);
}

TEST(GenotypeMatrix, RefusesNumbersBeyondTheFileAndTwice) {
  const Calls calls = Calls::random(10, 7, 0.2, 1);
  EXPECT_THROW(matrix_of(calls, {}, {10}), InputError);
  EXPECT_THROW(matrix_of(calls, {}, {}, {1, 1}), InputError);
}

Products products_of(const GenotypeMatrix& matrix, const std::vector<double>& means,
                     const std::vector<double>& scales, const std::vector<double>& v, int columns,
                     ProductBits bits) {
  return multiplied({matrix, means, scales}, v, columns, bits);
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

TEST(GenotypeProducts, AreThoseOfPlainLoops) {
  for (const auto& [n, m, missing] : {std::tuple{1, 1, 0.0}, std::tuple{65, 300, 0.0},
                                      std::tuple{130, 700, 0.03}, std::tuple{4200, 33, 0.3}}) {
    const Calls calls = Calls::random(n, m, missing, static_cast<unsigned>(n + m));
    for (const int columns : {1, 5}) {
      std::vector<double> means;
      std::vector<double> scales;
      const auto z = standardised(calls, -1, &means, &scales);
      const auto v = random_numbers(static_cast<std::int64_t>(n) * columns, 3);
      std::vector<double> t;
      std::vector<double> out(v.size());
      for (std::size_t j = 0; j < z.size(); ++j) {
        for (int c = 0; c < columns; ++c) {
          double sum = 0;
          for (int i = 0; i < n; ++i) {
            sum += z[j][static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(c * n + i)];
          }
          t.push_back(sum);
          for (int i = 0; i < n; ++i) {
            out[static_cast<std::size_t>(c * n + i)] +=
                z[j][static_cast<std::size_t>(i)] * static_cast<double>(j % 7) * sum;
          }
        }
      }
      const double most_t = largest(t);
      const double most_out = largest(out);
      for (const auto& [bits, tolerance] :
           {std::pair{ProductBits::k28, 1e-7}, std::pair{ProductBits::k56, 1e-13}}) {
        const auto whole = matrix_of(calls, {1, SimdLevel::kScalar, 0});
        const Products expected = products_of(whole, means, scales, v, columns, bits);
        for (std::size_t k = 0; k < t.size(); ++k) {
          ASSERT_NEAR(expected.t[k], t[k], tolerance * most_t) << k;
        }
        for (std::size_t k = 0; k < out.size(); ++k) {
          ASSERT_NEAR(expected.out[k], out[k], tolerance * most_out) << k;
        }
        for (const SimdLevel simd : simd_levels()) {
          for (const int threads : {1, 3}) {
            for (const std::int64_t memory : {std::int64_t{0}, kBlockQuads * quad_stride(n)}) {
              const auto matrix = matrix_of(calls, {threads, simd, memory});
              const Products same = products_of(matrix, means, scales, v, columns, bits);
              ASSERT_EQ(same.t, expected.t);
              ASSERT_EQ(same.out, expected.out);
            }
          }
        }
      }
    }
  }
}

// Few columns take another path through the code than many.
TEST(GenotypeProducts, AColumnDoesNotDependOnThoseBesideIt) {
  constexpr int kMost = 6;
  const Calls calls = Calls::random(70, 600, 0.05, 1);
  std::vector<double> means;
  std::vector<double> scales;
  standardised(calls, -1, &means, &scales);
  const auto matrix = matrix_of(calls, {2, SimdLevel::kScalar, 0});
  const auto v = random_numbers(calls.samples * kMost, 3);
  const auto out_of = [&](int columns) {
    return products_of(matrix, means, scales, v, columns, ProductBits::k56).out;
  };
  const std::vector<double> all = out_of(kMost);
  for (int columns = 1; columns < kMost; ++columns) {
    const std::vector<double> first = out_of(columns);
    ASSERT_TRUE(std::equal(first.begin(), first.end(), all.begin())) << columns;
  }
}

TEST(GenotypeProducts, AreExactForLargestDigits) {
  // All samples carry two copies or none, and all values are the largest or the smallest.
  Calls calls{4096, {}};
  std::vector<double> v;
  for (std::int64_t i = 0; i < calls.samples; ++i) v.push_back(i % 2 == 0 ? 1 : -1);
  for (int j = 0; j < 256; ++j) {
    std::vector<unsigned> row;
    for (std::int64_t i = 0; i < calls.samples; ++i) row.push_back(i % 2 == 0 ? 2 : 0);
    calls.of_variants.push_back(row);
  }
  const std::vector<double> means(256, 0.0);
  const std::vector<double> scales(256, 1.0);
  for (const SimdLevel simd : simd_levels()) {
    const auto matrix = matrix_of(calls, {1, simd, 0});
    const Products products = products_of(matrix, means, scales, v, 1, ProductBits::k28);
    for (const double t : products.t) ASSERT_DOUBLE_EQ(t, 4096);
  }
}

TEST(GenotypeProducts, RefuseNumbersThatAreNotFinite) {
  const auto matrix = matrix_of(Calls::random(10, 7, 0, 1), {1, SimdLevel::kScalar, 0});
  EXPECT_THROW(products_of(matrix, std::vector<double>(7), std::vector<double>(7),
                           std::vector<double>(10, NAN), 1, ProductBits::k28),
               InputError);
}

}  // namespace
}  // namespace ancify
