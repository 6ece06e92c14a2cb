// Products with dosages against plain loops, and with whole dosages against calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/exec/errors.h"
#include "core/genotypes/block_columns.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/standardise.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/memory_genotypes.h"
#include "genotypes/multiplied.h"

namespace ancify {
namespace {

using Vector = std::vector<double>;

GenotypeMatrix matrix_of(std::unique_ptr<GenotypeFile> file, const GenotypeWork& work) {
  JobControl control;
  const GenotypeSelection all = {first_numbers(file->samples()), first_numbers(file->variants())};
  return {std::move(file), all, work, control};
}

GenotypeMatrix matrix_of(const Dosages& dosages, const GenotypeWork& work) {
  return matrix_of(std::make_unique<MemoryDosages>(dosages), work);
}

// z, variants x samples, by doubles.
std::vector<Vector> standardised(const Dosages& dosages, double scale_power) {
  std::vector<Vector> all;
  for (std::size_t j = 0; j < dosages.of_variants.size(); ++j) {
    Vector observed;
    for (const Dosage d : dosages.of_variants[j]) {
      if (d != kMissingDosage) observed.push_back(1 + static_cast<double>(d) / dosages.units[j]);
    }
    double mean = 0;
    for (const double g : observed) mean += g / static_cast<double>(observed.size());
    double variance = 0;
    for (const double g : observed) {
      variance += (g - mean) * (g - mean) / static_cast<double>(observed.size());
    }
    const double scale = variance > 1e-14 ? std::pow(variance, scale_power / 2) : 0;
    Vector z;
    for (const Dosage d : dosages.of_variants[j]) {
      const double g = 1 + static_cast<double>(d) / dosages.units[j];
      z.push_back(d == kMissingDosage ? 0 : scale * (g - mean));
    }
    all.push_back(z);
  }
  return all;
}

Products products_of(const GenotypeMatrix& matrix, const Vector& v, int columns, ProductBits bits) {
  return multiplied(standardise(matrix, -1), v, columns, bits);
}

Products plain_products(const std::vector<Vector>& z, const Vector& v, int columns) {
  const std::size_t n = z.front().size();
  Products result;
  result.out.resize(v.size());
  for (std::size_t j = 0; j < z.size(); ++j) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += z[j][i] * v[c * n + i];
      result.t.push_back(sum);
      for (std::size_t i = 0; i < n; ++i) {
        result.out[c * n + i] += z[j][i] * static_cast<double>(j % 7) * sum;
      }
    }
  }
  return result;
}

void expect_near(const Vector& found, const Vector& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (const double value : expected) most = std::max(most, std::abs(value));
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_NEAR(found[k], expected[k], tolerance * most) << k;
  }
}

// Room for one block and for its reading on two threads, so that each pass reads them again.
std::int64_t memory_of_a_block(std::int64_t n) {
  const std::int64_t of_reading =
      2 * kBlockVariants * 2 * n * static_cast<std::int64_t>(sizeof(Dosage));
  return stored_bytes(dosed_layout(kBlockVariants, kMostUnit, kBlockVariants * n), n) + of_reading;
}

TEST(DosageProducts, AreThoseOfPlainLoopsByEveryWay) {
  for (const auto& [n, m, missing] : {std::tuple{2, 1, 0.0}, std::tuple{65, 300, 0.0},
                                      std::tuple{130, 519, 0.03}, std::tuple{4200, 34, 0.3}}) {
    for (const std::vector<int>& units : {std::vector{255}, std::vector{16384, 1000}}) {
      const Dosages dosages = Dosages::random(n, m, missing, units, static_cast<unsigned>(n + m));
      const auto z = standardised(dosages, -1);
      for (const int columns : {1, 5}) {
        const Vector v = random_numbers(static_cast<std::int64_t>(n) * columns, 3);
        const Products plain = plain_products(z, v, columns);
        for (const auto& [bits, tolerance] :
             {std::pair{ProductBits::k28, 2e-7}, std::pair{ProductBits::k56, 1e-12}}) {
          const Products expected = products_of(matrix_of(dosages, {}), v, columns, bits);
          expect_near(expected.t, plain.t, tolerance);
          expect_near(expected.out, plain.out, tolerance);
          for (const SimdLevel simd : simd_levels()) {
            for (const std::int64_t memory : {std::int64_t{0}, memory_of_a_block(n)}) {
              const auto matrix = matrix_of(dosages, {2, simd, memory});
              const Products same = products_of(matrix, v, columns, bits);
              ASSERT_EQ(same.t, expected.t);
              ASSERT_EQ(same.out, expected.out);
            }
          }
        }
      }
    }
  }
}

TEST(DosageProducts, OfWholeDosagesAreThoseOfCalls) {
  const Calls calls = Calls::random(100, 600, 0.05, 2);
  Dosages dosages{100, {}, {}};
  for (const auto& row : calls.of_variants) {
    const int unit = dosages.units.size() % 2 == 0 ? 255 : 16384;
    const std::array<Dosage, 4> of_call = {static_cast<Dosage>(-unit), 0, static_cast<Dosage>(unit),
                                           kMissingDosage};
    std::vector<Dosage> values;
    for (const unsigned call : row) values.push_back(of_call[call]);
    dosages.of_variants.push_back(values);
    dosages.units.push_back(unit);
  }
  const Vector v = random_numbers(300, 1);
  for (const std::int64_t memory : {std::int64_t{0}, memory_of_a_block(100)}) {
    const auto matrix = matrix_of(dosages, {1, SimdLevel::kScalar, memory});
    EXPECT_FALSE(matrix.any_dosages());
    const Products found = products_of(matrix, v, 3, ProductBits::k56);
    const Products expected = products_of(matrix_of(std::make_unique<MemoryGenotypes>(calls), {}),
                                          v, 3, ProductBits::k56);
    EXPECT_EQ(found.t, expected.t);
    EXPECT_EQ(found.out, expected.out);
  }
}

// Blocks of calls beside blocks of dosages.
TEST(DosageProducts, OfMixedBlocksAreThoseOfPlainLoops) {
  Dosages dosages = Dosages::random(90, 256, 0.1, {255}, 1);
  dosages.append(Dosages::random(90, 256, 0.1, {1}, 2));
  dosages.append(Dosages::random(90, 3, 0.1, {255}, 3));
  const auto matrix = matrix_of(dosages, {});
  EXPECT_TRUE(matrix.has_dosages(0) && !matrix.has_dosages(1) && matrix.has_dosages(2));
  const Vector v = random_numbers(5 * 90, 1);
  const Products found = products_of(matrix, v, 5, ProductBits::k56);
  const Products plain = plain_products(standardised(dosages, -1), v, 5);
  expect_near(found.t, plain.t, 1e-12);
  expect_near(found.out, plain.out, 1e-12);
}

TEST(DosageProducts, AreExactForTheLargestDosagesAndDigits) {
  constexpr std::int64_t n = 4096;
  for (const int unit : {255, kMostUnit}) {
    Dosages dosages{n, {}, {}};
    Vector v;
    for (std::int64_t i = 0; i < n; ++i) v.push_back(i % 2 == 0 ? 1 : -1);
    for (int j = 0; j < 256; ++j) {
      std::vector<Dosage> row;
      for (std::int64_t i = 0; i < n; ++i) row.push_back(static_cast<Dosage>(i % 2 ? -unit : unit));
      row[0] = static_cast<Dosage>(unit - 1);  // so that they are no calls
      row[2] = static_cast<Dosage>(unit - 1);
      dosages.of_variants.push_back(row);
      dosages.units.push_back(unit);
    }
    const double expected = static_cast<double>(n) - 2.0 / unit;
    for (const SimdLevel simd : simd_levels()) {
      const auto matrix = matrix_of(dosages, {1, simd, 0});
      const GenotypeProducts products(matrix, Vector(256, 1.0), Vector(256, 1.0));
      GenotypeProducts::Pass pass;
      Vector out(static_cast<std::size_t>(n));
      pass.v = v.data();
      pass.columns = pass.out_columns = 1;
      pass.out = out.data();
      pass.wanted = [](std::int64_t) { return true; };
      JobControl control;
      products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
        for (int j = 0; j < block.variants(); ++j) {
          ASSERT_DOUBLE_EQ(t[j], expected);
          u[j] = 1;
        }
      });
      for (std::int64_t i = 3; i < n; ++i) {
        ASSERT_DOUBLE_EQ(out[static_cast<std::size_t>(i)], i % 2 ? -256 : 256);
      }
    }
  }
}

TEST(DosageProducts, OfPairsAreThoseOfPlainLoops) {
  const Dosages dosages = Dosages::random(83, 330, 0.05, {255, 16384}, 4);
  const auto z = standardised(dosages, -1);
  const std::size_t n = z.front().size();
  Vector factors = random_numbers(330, 5);
  factors[7] = 0;
  Vector a = random_numbers(static_cast<std::int64_t>(n * n), 6);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) a[i * n + k] = a[k * n + i];
  }
  Vector outer(n * n);
  Vector forms(z.size());
  Vector squares(n);
  for (std::size_t j = 0; j < z.size(); ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      squares[i] += factors[j] * z[j][i] * z[j][i];
      for (std::size_t k = 0; k < n; ++k) {
        outer[i * n + k] += factors[j] * z[j][i] * z[j][k];
        forms[j] += z[j][i] * a[i * n + k] * z[j][k];
      }
    }
  }
  Vector first;
  for (const SimdLevel simd : simd_levels()) {
    for (const int threads : {1, 3}) {
      JobControl control;
      const auto matrix = matrix_of(dosages, {threads, simd, 0});
      const GenotypeProducts products = standardise(matrix, -1);
      Vector all(n * n);
      products.outer(control, factors, all.data());
      const Vector found_forms = products.quadratic_forms(control, a.data());
      const Vector found_squares = products.squares(control, factors);
      expect_near(all, outer, 1e-12);
      expect_near(found_forms, forms, 1e-12);
      expect_near(found_squares, squares, 1e-12);
      all.insert(all.end(), found_forms.begin(), found_forms.end());
      all.insert(all.end(), found_squares.begin(), found_squares.end());
      if (first.empty()) first = all;
      EXPECT_EQ(all, first);
    }
  }
}

TEST(BlockColumns, AreStandardisedVariants) {
  for (const double missing : {0.0, 0.1}) {
    const Dosages dosages = Dosages::random(70, 300, missing, {255}, 8);
    const auto z = standardised(dosages, -1);
    const auto matrix = matrix_of(dosages, {});
    const GenotypeProducts products = standardise(matrix, -1);
    JobControl control;
    matrix.for_each_stored_tile(
        control, [](std::int64_t) { return true; },
        [&](const StoredTile& tile) {
          for (std::size_t b = 0; b < tile.blocks.size(); ++b) {
            const GenotypeBlock block(tile.first_block + static_cast<std::int64_t>(b),
                                      tile.blocks[b]);
            const BlockColumns columns(products, block);
            for (int j = 0; j < columns.variants(); ++j) {
              Vector column(2 * 40);
              columns.write(j, 30, 40, column.data(), 2);
              const auto& expected = z[static_cast<std::size_t>(columns.first_variant() + j)];
              for (std::size_t i = 0; i < 40; ++i) {
                ASSERT_NEAR(column[2 * i], expected[30 + i], 1e-12);
              }
            }
          }
        });
  }
}

TEST(VariantMoments, OfDosagesAreThoseOfDoubles) {
  const Dosages dosages = Dosages::random(500, 40, 0.2, {255, 16384}, 9);
  for (std::size_t j = 0; j < 40; ++j) {
    const VariantMoments found = moments_of(dosages.of_variants[j].data(), 500, dosages.units[j]);
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (const Dosage d : dosages.of_variants[j]) {
      if (d == kMissingDosage) continue;
      const double g = 1 + static_cast<double>(d) / dosages.units[j];
      n += 1;
      sum += g;
      squares += g * g;
    }
    EXPECT_EQ(found.observed, n);
    EXPECT_NEAR(found.mean, sum / n, 1e-13);
    EXPECT_NEAR(found.variance, squares / n - sum / n * sum / n, 1e-13);
  }
  const std::vector<Dosage> equal(1000, 77);
  EXPECT_EQ(moments_of(equal.data(), 1000, 255).variance, 0);
  const std::vector<Dosage> none(3, kMissingDosage);
  EXPECT_EQ(moments_of(none.data(), 3, 255).observed, 0);
}

}  // namespace
}  // namespace ancify
