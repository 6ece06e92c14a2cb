// Rare variants as lists of non-modal genotypes, against the same variants packed.
#include "core/genotypes/stored_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/genotypes/genotype_products.h"
#include "core/genotypes/standardise.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {
namespace {

GenotypeMatrix matrix_of(const Calls& calls, const GenotypeWork& work) {
  JobControl control;
  auto file = std::make_unique<MemoryGenotypes>(calls);
  GenotypeSelection all = {first_numbers(file->samples()), first_numbers(file->variants())};
  return {std::move(file), std::move(all), work, control};
}

GenotypeMatrix packed_matrix(const Calls& calls) {
  return matrix_of(calls, {1, SimdLevel::kScalar, 0, false});
}

TEST(BlockLayout, ListsVariantsThatAreFasterSo) {
  constexpr std::int64_t n = 800;
  // The first four have fewer than one non-modal call in 32, whichever call is modal.
  const std::vector<VariantCounts> counts = {{24, 0, 0},  {12, 776, 12}, {0, 0, 800},
                                             {800, 0, 0}, {25, 0, 0},    {300, 200, 0}};
  const BlockLayout layout = listed_layout(counts.data(), 6, n);
  EXPECT_EQ(layout.listed, (std::vector<std::uint8_t>{0, 1, 2, 3}));
  EXPECT_EQ(layout.packed, (std::vector<std::uint8_t>{4, 5}));
  EXPECT_EQ(std::vector<std::uint8_t>(layout.modal.begin(), layout.modal.begin() + 4),
            (std::vector<std::uint8_t>{0, 2, 3, 1}));
  EXPECT_EQ(layout.non_modal, 24 + 24);
  EXPECT_EQ(layout.missing_listed, 812);
  EXPECT_LT(stored_bytes(layout, n), stored_bytes(packed_layout(counts.data(), 6), n));
}

TEST(BlockLayout, KeepsQuadsWhereListsSaveNothing) {
  // A rare variant shares a quad with three common ones.
  const std::vector<VariantCounts> counts = {{1, 0, 0}, {400, 0, 0}, {400, 0, 0}, {400, 0, 0}};
  EXPECT_TRUE(listed_layout(counts.data(), 4, 800).listed.empty());
}

TEST(StoredBlock, HasTheCallsThatItWasMadeOf) {
  constexpr std::int64_t m = 600;
  const auto all = [](std::int64_t) { return true; };
  for (const std::int64_t n : {1, 63, 64, 65, 701}) {
    const Calls calls = Calls::rare(n, m, static_cast<unsigned>(n));
    const auto call = [&](std::int64_t variant, std::int64_t sample) {
      return calls.of_variants[static_cast<std::size_t>(variant)][static_cast<std::size_t>(sample)];
    };
    const auto matrix = matrix_of(calls, {2, SimdLevel::kScalar, 0});
    if (n > 64) {
      EXPECT_GT(matrix.layout(0).listed.size(), 100U);
      EXPECT_GT(matrix.layout(0).packed.size(), 20U);
    }
    JobControl control;
    std::int64_t variant = 0;
    matrix.for_each_stored_tile(control, all, [&](const StoredTile& tile) {
      for (const StoredBlock& block : tile.blocks) {
        const std::int64_t first = n / 3;
        const std::int64_t stride = quad_stride(n - first);
        std::vector<std::uint8_t> some(static_cast<std::size_t>(kBlockQuads * stride));
        unpack_block(block, first, n - first, stride, some.data());
        for (int v = 0; v < block.layout->variants(); ++v, ++variant) {
          for (std::int64_t i = first; i < n; ++i) {
            const std::int64_t at = v / kQuad * stride + i - first;
            ASSERT_EQ(call_in_quad(some[static_cast<std::size_t>(at)], v % kQuad),
                      call(variant, i));
          }
        }
      }
    });
    EXPECT_EQ(variant, m);
    matrix.for_each_tile(control, all, [&](const GenotypeTile& tile) {
      const std::int64_t first = tile.first_block * kBlockVariants;
      for (std::int64_t j = first; j < std::min(m, first + tile.blocks * kBlockVariants); ++j) {
        const std::uint8_t* const row =
            tile.rows((j - first) / kBlockVariants) + j % kBlockVariants / kQuad * quad_stride(n);
        for (std::int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(call_in_quad(row[i], static_cast<int>(j % kQuad)), call(j, i));
        }
      }
    });
  }
}

// Z T, and then T = Z'V.
std::vector<double> products_of(const GenotypeMatrix& matrix, const std::vector<double>& v,
                                int columns, ProductBits bits) {
  JobControl control;
  const GenotypeProducts products = standardise(matrix, -1);
  const std::int64_t n = matrix.samples();
  std::vector<double> result(static_cast<std::size_t>((n + matrix.variants()) * columns));
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = pass.out_columns = columns;
  pass.out = result.data();
  pass.bits = bits;
  pass.wanted = [](std::int64_t) { return true; };
  products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
    const std::int64_t size = block.variants() * columns;
    std::copy_n(t, size, u);
    std::copy_n(t, size, &result[static_cast<std::size_t>((n + block.first_variant()) * columns)]);
  });
  return result;
}

TEST(GenotypeProducts, OfListsAreThoseOfPackedVariantsByteForByte) {
  for (const std::int64_t n : {1, 65, 257, 4200}) {
    const Calls calls = Calls::rare(n, n == 4200 ? 90 : 600, static_cast<unsigned>(n));
    const auto packed = packed_matrix(calls);
    for (const int columns : {1, 6}) {
      // A pass may leave out samples at which all columns are 0.
      auto v = random_numbers(n * columns, 3);
      for (int c = 0; c < columns; ++c) {
        std::fill_n(&v[static_cast<std::size_t>(c * n)], n / 3, 0.0);
      }
      for (const auto bits : {ProductBits::k28, ProductBits::k56}) {
        const auto expected = products_of(packed, v, columns, bits);
        for (const SimdLevel simd : simd_levels()) {
          for (const int threads : {1, 3}) {
            const auto lists = matrix_of(calls, {threads, simd, 0});
            ASSERT_EQ(products_of(lists, v, columns, bits), expected) << n;
          }
        }
      }
    }
  }
}

TEST(GenotypeProducts, OfListsHaveTheirOuterProductsAndSquares) {
  const Calls calls = Calls::rare(130, 600, 5);
  const auto packed = packed_matrix(calls);
  const auto lists = matrix_of(calls, {2, best_simd_level(), 0});
  const std::vector<double> factors(600, 0.5);
  JobControl control;
  std::vector<double> expected(130 * 130);
  std::vector<double> found(expected.size());
  standardise(packed, -1).outer(control, factors, expected.data());
  standardise(lists, -1).outer(control, factors, found.data());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(standardise(lists, -1).squares(control, factors),
            standardise(packed, -1).squares(control, factors));
}

TEST(GenotypeMatrix, KeepsListsWherePackedVariantsDoNotFit) {
  const Calls calls = Calls::rare(2000, 2000, 1);
  const std::int64_t packed = 8 * kBlockQuads * quad_stride(2000);
  const auto v = random_numbers(2000, 3);
  const auto expected = products_of(packed_matrix(calls), v, 1, ProductBits::k28);
  for (const auto& [memory, resident] :
       {std::pair{packed * 7 / 8, true}, std::pair{packed / 8, false}}) {
    const auto matrix = matrix_of(calls, {1, SimdLevel::kScalar, memory});
    EXPECT_EQ(matrix.resident(), resident);
    EXPECT_EQ(products_of(matrix, v, 1, ProductBits::k28), expected);
  }
}

// The first block is 1 of 256, and takes a twelfth of the memory.
TEST(GenotypeMatrix, KeepsRareVariantsBehindCommonOnes) {
  const std::int64_t n = 400;
  Calls calls = Calls::random(n, kBlockVariants, 0, 1);
  for (std::size_t j = kBlockVariants; j < 256 * kBlockVariants; ++j) {
    calls.of_variants.emplace_back(n, 0);
    calls.of_variants.back()[j % n] = 1;
  }
  const std::int64_t block = kBlockQuads * quad_stride(n);
  EXPECT_TRUE(matrix_of(calls, {1, SimdLevel::kScalar, 24 * block}).resident());
  EXPECT_FALSE(matrix_of(calls, {1, SimdLevel::kScalar, 6 * block}).resident());
}

}  // namespace
}  // namespace ancify
