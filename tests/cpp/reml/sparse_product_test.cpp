// Checks products of sparse matrices against dense ones.
#include "core/reml/kernels/sparse_product.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"

namespace ancify::reml {
namespace {

TEST(SparseProduct, IsThatOfTheDenseMatrix) {
  constexpr std::int64_t n = 7;
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  std::vector<double> dense(n * n, 0.0);
  double trace = 0;
  for (std::int32_t j = 0; j < n; ++j) {
    for (std::int32_t i = j; i < n; ++i) {
      if ((i * 5 + j * 3) % 4 == 1) continue;
      const double entry = 1.0 / (1 + i + 3 * j);
      row.push_back(i);
      column.push_back(j);
      value.push_back(entry);
      dense[static_cast<std::size_t>(i * n + j)] = dense[static_cast<std::size_t>(j * n + i)] =
          entry;
      if (i == j) trace += entry;
    }
  }
  const SparseProduct product(n, row, column, value);
  EXPECT_DOUBLE_EQ(product.trace(), trace);
  std::vector<double> v(2 * n);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i * i % 11) - 5;
  std::vector<double> out(2 * n);
  product(v.data(), 2, out.data());
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += dense[i * n + j] * v[c * n + j];
      EXPECT_NEAR(out[c * n + i], sum, 1e-14);
    }
  }
}

TEST(SparseProduct, RefusesEntriesBeyondItsSamples) {
  EXPECT_THROW(SparseProduct(2, {2}, {0}, {1.0}), InputError);
  EXPECT_THROW(SparseProduct(2, {0}, {-1}, {1.0}), InputError);
}

}  // namespace
}  // namespace ancify::reml
