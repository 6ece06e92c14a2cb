// Kernels of records, within groups, and of groups, beside dense matrices.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/exec/errors.h"
#include "core/reml/kernels/block_kernels.h"
#include "core/reml/kernels/group_product.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/record_kernels.h"
#include "genotypes/memory_genotypes.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

constexpr std::int64_t kIndividuals = 5;
constexpr int kColumns = 3;

class CombinedKernelsTest : public testing::Test {
 protected:
  CombinedKernelsTest() {
    for (std::size_t g = 0; g < 2; ++g) {
      const Vector half = random_numbers(kIndividuals * kIndividuals, g + 1);
      Vector& k = matrices_.emplace_back(half.size());
      for (std::size_t i = 0; i < k.size(); ++i) {
        k[i] = half[i] + half[i % kIndividuals * kIndividuals + i / kIndividuals];
      }
    }
  }

  std::unique_ptr<MatrixKernels> individuals() {
    return std::make_unique<MatrixKernels>(
        kIndividuals, std::vector<const double*>{matrices_[0].data(), matrices_[1].data()},
        control_);
  }

  // `entry`: of component g, for two samples.
  using Entry = std::function<double(std::size_t g, std::size_t i, std::size_t j)>;
  static void expect_kernels(Kernels& kernels, const Entry& entry) {
    const auto n = static_cast<std::size_t>(kernels.samples());
    const Vector a = random_numbers(n * kColumns, 3);
    const Vector b = random_numbers(n * kColumns, 4);
    Vector forms(2 * kColumns);
    Vector squares(2 * kColumns);
    kernels.quadratic_forms(a.data(), b.data(), kColumns, Precision::kFull, forms.data());
    kernels.quadratic_forms(b.data(), b.data(), kColumns, Precision::kFull, squares.data());
    const Vector theta = {0.3, 2};
    Vector sum(b.size());
    for (std::size_t g = 0; g < 2; ++g) {
      Vector expected(n * n);
      double trace = 0;
      for (std::size_t k = 0; k < n * n; ++k) expected[k] = entry(g, k % n, k / n);
      for (std::size_t i = 0; i < n; ++i) trace += expected[i * (n + 1)];
      const int component = static_cast<int>(g);
      EXPECT_NEAR(kernels.mean_diagonal(component), trace / static_cast<double>(n), 1e-13);
      Vector dense(n * n);
      kernels.dense(component, dense.data());
      EXPECT_EQ(dense, expected);
      const Vector diagonal = kernels.diagonal(component);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(diagonal[i], expected[i * (n + 1)]);
      const Vector product = test::plain_product(expected, b, n);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theta[g] * product[i];
      for (std::size_t c = 0; c < kColumns; ++c) {
        double form = 0;
        double square = 0;
        for (std::size_t i = c * n; i < (c + 1) * n; ++i) {
          form += a[i] * product[i];
          square += b[i] * product[i];
        }
        EXPECT_NEAR(forms[g * kColumns + c], form, 1e-12);
        EXPECT_NEAR(squares[g * kColumns + c], square, 1e-12);
      }
    }
    Vector out(b.size(), 9);
    kernels.times(theta.data(), b.data(), kColumns, Precision::kFull, out.data());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], sum[i], 1e-12);
  }

  JobControl control_;
  std::vector<Vector> matrices_;
};

TEST_F(CombinedKernelsTest, RecordsHaveTheKernelsOfTheirIndividuals) {
  const std::vector<std::int32_t> of = {3, 0, 0, 4, 3, 1, 3};
  RecordKernels records(individuals(), of);
  expect_kernels(records, [&](std::size_t g, std::size_t i, std::size_t j) {
    return matrices_[g][static_cast<std::size_t>(of[j] * kIndividuals + of[i])];
  });
  EXPECT_THROW(RecordKernels(individuals(), {0, 5}), InputError);
  EXPECT_THROW(RecordKernels(individuals(), {-1}), InputError);
}

TEST_F(CombinedKernelsTest, BlocksLackEntriesBetweenGroups) {
  const std::vector<std::int32_t> groups = {2, 0, 2, 1, 0};
  for (const int columns_at_once : {1, 6, 100}) {
    BlockKernels blocks(individuals(), groups, columns_at_once);
    expect_kernels(blocks, [&](std::size_t g, std::size_t i, std::size_t j) {
      return groups[i] == groups[j] ? matrices_[g][j * kIndividuals + i] : 0;
    });
  }
  EXPECT_THROW(BlockKernels(individuals(), {0, 1}), InputError);
}

TEST(GroupProduct, SumsOverGroups) {
  const GroupProduct product({1, 0, 1, 2});
  const Vector v = {1, 2, 3, 4, 10, 20, 30, 40};
  Vector out(v.size());
  product(v.data(), 2, out.data());
  EXPECT_EQ(out, (Vector{4, 2, 4, 4, 40, 20, 40, 40}));
}

}  // namespace
}  // namespace ancify::reml
