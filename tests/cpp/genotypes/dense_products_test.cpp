// Outer products of variants, and forms with dense matrices, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/genotypes/call_patterns.h"
#include "core/genotypes/genotype_products.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {
namespace {

using Vector = std::vector<double>;

// Calls with their standardised columns.
struct Case {
  explicit Case(Calls of) : calls(std::move(of)), z(standardised(calls, -1, &means, &scales)) {}

  std::size_t samples() const { return static_cast<std::size_t>(calls.samples); }
  std::size_t variants() const { return calls.of_variants.size(); }
  GenotypeMatrix matrix(const GenotypeWork& work) const {
    JobControl control;
    return {std::make_unique<MemoryGenotypes>(calls),
            {first_numbers(calls.samples), first_numbers(static_cast<std::int64_t>(variants()))},
            work,
            control};
  }
  // Every third variant, and every variant after the first 260, has the factor 0.
  Vector factors() const {
    Vector factors;
    for (std::size_t j = 0; j < variants(); ++j) {
      factors.push_back(j < 260 ? static_cast<double>(j % 3) : 0);
    }
    return factors;
  }
  Vector outer() const {
    const Vector factor = factors();
    const std::size_t n = samples();
    Vector sums(n * n);
    for (std::size_t j = 0; j < z.size(); ++j) {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) sums[a * n + b] += factor[j] * z[j][a] * z[j][b];
      }
    }
    return sums;
  }
  // Of each variant with a symmetric matrix.
  Vector quadratic_forms(const Vector& matrix) const {
    Vector forms;
    for (const auto& column : z) {
      double form = 0;
      for (std::size_t a = 0; a < samples(); ++a) {
        for (std::size_t b = 0; b < samples(); ++b) {
          form += column[a] * matrix[a * samples() + b] * column[b];
        }
      }
      forms.push_back(form);
    }
    return forms;
  }

  Calls calls;
  Vector means;
  Vector scales;
  std::vector<std::vector<double>> z;
};

// Neighbours differ in few samples, as on a chromosome.
Calls linked(std::int64_t samples, std::int64_t variants, double missing) {
  std::mt19937_64 random(3);
  Calls calls = Calls::random(samples, variants, missing, 4);
  for (std::size_t j = 1; j < calls.of_variants.size(); ++j) {
    if (j % 40 == 0) continue;
    auto& row = calls.of_variants[j];
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (random() % 100 != 0) row[i] = calls.of_variants[j - 1][i];
    }
  }
  return calls;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  all.emplace_back(Calls::random(1, 1, 0, 1));
  all.emplace_back(Calls::random(65, 300, 0, 2));
  all.emplace_back(Calls::random(130, 700, 0.03, 3));
  all.emplace_back(Calls::random(600, 37, 0.4, 4));
  all.emplace_back(linked(150, 550, 0));
  all.emplace_back(linked(90, 300, 0.02));
  all.emplace_back(Calls::rare(130, 600, 5));
  return all;
}

Vector random_symmetric(std::size_t n) {
  Vector matrix = random_numbers(static_cast<std::int64_t>(n * n), 9);
  for (std::size_t a = 0; a < n; ++a) {
    matrix[a * (n + 1)] += 3;
    for (std::size_t b = 0; b < a; ++b) matrix[a * n + b] = matrix[b * n + a];
  }
  return matrix;
}

double largest(const Vector& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// Expects `compute` to give these numbers, and the same bytes with all vector instructions, threads
// and sizes of tiles.
template <class Compute>
void expect_everywhere(const Case& of, const Vector& expected, Compute&& compute) {
  const double tolerance = 1e-13 * largest(expected);
  Vector first;
  for (const SimdLevel simd : simd_levels()) {
    for (const int threads : {1, 3}) {
      for (const std::int64_t memory :
           {std::int64_t{0}, kBlockQuads * quad_stride(of.calls.samples)}) {
        const auto matrix = of.matrix({threads, simd, memory});
        const Vector found = compute(GenotypeProducts(matrix, of.means, of.scales));
        if (first.empty()) first = found;
        ASSERT_EQ(found, first);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          ASSERT_NEAR(found[k], expected[k], tolerance) << k;
        }
      }
    }
  }
}

TEST(DenseProducts, OuterOnesAreThoseOfPlainLoops) {
  for (const Case& of : cases()) {
    expect_everywhere(of, of.outer(), [&](const GenotypeProducts& products) {
      JobControl control;
      Vector out(of.samples() * of.samples());
      products.outer(control, of.factors(), out.data());
      return out;
    });
  }
}

TEST(DenseProducts, FormsAreThoseOfPlainLoops) {
  for (const Case& of : cases()) {
    const Vector matrix = random_symmetric(of.samples());
    expect_everywhere(of, of.quadratic_forms(matrix), [&](const GenotypeProducts& products) {
      JobControl control;
      return products.quadratic_forms(control, matrix.data());
    });
  }
}

TEST(DenseProducts, FormsReadTheLowerTriangleAlone) {
  const Case of(Calls::random(70, 50, 0.1, 6));
  Vector matrix = random_symmetric(of.samples());
  JobControl control;
  const auto genotypes = of.matrix({1, best_simd_level(), 0});
  const GenotypeProducts products(genotypes, of.means, of.scales);
  const Vector expected = products.quadratic_forms(control, matrix.data());
  for (std::size_t column = 0; column < of.samples(); ++column) {
    for (std::size_t row = 0; row < column; ++row) matrix[column * of.samples() + row] = NAN;
  }
  EXPECT_EQ(products.quadratic_forms(control, matrix.data()), expected);
}

// Groups have all chosen variants, in order, and patterns represent the calls.
TEST(CallPatterns, StandForTheCalls) {
  for (const Case& of : cases()) {
    const auto matrix = of.matrix({1, SimdLevel::kScalar, 0});
    JobControl control;
    std::size_t groups = 0;
    matrix.for_each_tile(
        control, [](std::int64_t block) { return block == 0; },
        [&](const GenotypeTile& tile) {
          for (const int step : {1, 3}) {
            std::vector<std::uint8_t> chosen;
            for (int j = 0; j < matrix.variants_in(0); j += step) {
              chosen.push_back(static_cast<std::uint8_t>(j));
            }
            std::vector<std::uint8_t> found;
            for (const CallPatterns& group :
                 find_patterns(tile.rows(0), of.calls.samples, chosen)) {
              ++groups;
              found.insert(found.end(), group.variants.begin(), group.variants.end());
              ASSERT_TRUE(group.count <= 64 || group.variants.size() <= 4);
              Vector values(static_cast<std::size_t>(group.count));
              for (std::size_t v = 0; v < group.variants.size(); ++v) {
                values_of_patterns(group, static_cast<int>(v), {0, 1, 2, 3}, values.data());
                for (std::size_t i = 0; i < of.samples(); ++i) {
                  ASSERT_EQ(values[group.numbers[i]], of.calls.of_variants[group.variants[v]][i]);
                }
              }
            }
            ASSERT_EQ(found, chosen);
          }
        });
    if (of.samples() == 150) {
      EXPECT_LT(groups, 60);  // linked variants share patterns
    }
  }
}

}  // namespace
}  // namespace ancify
