// Products, Cholesky factors and their inverses at each level against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/matrices/level.h"
#include "matrices/random_numbers.h"

namespace ancify {
namespace {

// `transposed`: b where it is odd, a from 2 on.
template <class T>
void expect_the_plain_product(void (*multiply)(const ProductOf<T>&), int transposed,
                              const std::array<std::int64_t, 3>& shape) {
  const auto [m, n, k] = shape;
  const auto a = random_numbers<T>((m + k) * (m + k + 3), 1);
  const auto b = random_numbers<T>((n + k) * (n + k + 2), 2);
  std::vector<T> c(static_cast<std::size_t>(m * (n + 1)), 7);
  std::vector<T> expected = c;
  ProductOf<T> product = {m,
                          n,
                          k,
                          a.data(),
                          m + k + 3,
                          b.data(),
                          n + k + 2,
                          transposed % 2 == 1,
                          c.data(),
                          n + 1,
                          transposed / 2 == 1};
  multiply(product);
  product.c = expected.data();
  multiply_plainly(product);
  const double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < c.size(); ++i) {
    ASSERT_NEAR(c[i], expected[i], rounding * std::sqrt(static_cast<double>(k)) * 8);
  }
  EXPECT_EQ(c[static_cast<std::size_t>(n)], 7) << "beside the matrix";
}

TEST(Matrices, MultiplyColumnsAndAVectorAsPlainLoops) {
  for (const SimdLevel level : levels()) {
    const MatrixFunctions& matrices = matrix_functions_of(level);
    for (const std::int64_t n : {1, 2, 7, 8, 20, 61}) {
      const std::int64_t stride = n + 3;
      const auto a = random_numbers<double>(n * stride, 1);
      const auto x = random_numbers<double>(n, 2);
      const auto at = [&](std::int64_t row, std::int64_t column) {
        return a[static_cast<std::size_t>(column * stride + row)];
      };
      for (std::int64_t columns = 0; columns <= n; columns += 1 + n / 9) {
        std::vector<double> sums(static_cast<std::size_t>(columns));
        std::vector<double> product(x.size());
        matrices.column_dots(n, columns, a.data(), stride, x.data(), sums.data());
        matrices.add_symmetric_columns(n, columns, a.data(), stride, x.data(), product.data());
        for (std::int64_t i = 0; i < n; ++i) {
          double dot = 0;
          double whole = 0;
          for (std::int64_t k = 0; k < n; ++k) {
            const double number = x[static_cast<std::size_t>(k)];
            if (i < columns) dot += at(k, i) * number;
            if (std::min(i, k) < columns) whole += at(std::max(i, k), std::min(i, k)) * number;
          }
          const auto place = static_cast<std::size_t>(i);
          if (i < columns) {
            ASSERT_NEAR(sums[place], dot, 1e-13);
          }
          ASSERT_NEAR(product[place], whole, 1e-13);
        }
      }
    }
  }
}

TEST(Matrices, SubtractAProductAsThePlainLoop) {
  for (const SimdLevel level : levels()) {
    for (const std::int64_t rows : {1, 3, 8, 19, 45}) {
      for (const std::int64_t columns : {1, 2, 4, 7}) {
        for (const std::int64_t depth : {0, 1, 6}) {
          const std::int64_t stride = rows + columns + 2;
          const auto a = random_numbers<double>(stride * (depth + 1), 1);
          const auto x = random_numbers<double>(stride * (depth + 1), 2);
          const auto before = random_numbers<double>(stride * columns, 3);
          auto y = before;
          matrix_functions_of(level).subtract_columns(
              {rows, columns, depth, a.data(), stride, x.data(), stride, y.data(), stride});
          // By rows, y is columns x rows, and the product X A'.
          std::vector<double> product(y.size());
          multiply_plainly<double>({columns, rows, depth, x.data(), stride, a.data(), stride, false,
                                    product.data(), stride, true});
          for (std::size_t i = 0; i < y.size(); ++i) {
            ASSERT_NEAR(y[i], before[i] - product[i], 1e-14) << rows << " x " << columns;
          }
        }
      }
    }
  }
}

TEST(Matrices, MultiplyAsThePlainLoop) {
  for (const SimdLevel level : levels()) {
    const MatrixFunctions& matrices = matrix_functions_of(level);
    for (const int transposed : {0, 1, 2, 3}) {
      for (const auto& shape : {std::array<std::int64_t, 3>{1, 1, 1},
                                {3, 5, 7},
                                {17, 33, 24},
                                {1, 64, 40},
                                {65, 16, 300},
                                {40, 24, 257},
                                {33, 79, 20},
                                {21, 271, 24},
                                {128, 96, 64}}) {
        expect_the_plain_product(matrices.multiply_floats, transposed, shape);
        expect_the_plain_product(matrices.multiply_doubles, transposed, shape);
      }
    }
  }
}

// A positive definite matrix, a column after the other.
std::vector<double> positive_matrix(std::int64_t n, std::int64_t stride) {
  const auto z = random_numbers<double>(n * 2 * n, 3);
  std::vector<double> a(static_cast<std::size_t>(n * stride), -1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 2 * n; ++k) {
        sum += z[static_cast<std::size_t>(k * n + i)] * z[static_cast<std::size_t>(k * n + j)];
      }
      a[static_cast<std::size_t>(j * stride + i)] = sum / static_cast<double>(n);
    }
  }
  return a;
}

TEST(Matrices, FactoriseAndInvertTheFactor) {
  for (const SimdLevel level : levels()) {
    const MatrixFunctions& matrices = matrix_functions_of(level);
    for (const std::int64_t n : {1, 2, 7, 33, 96}) {
      const std::int64_t stride = n + 3;
      const auto at = [](std::int64_t i, std::int64_t j, std::int64_t columns) {
        return static_cast<std::size_t>(j * columns + i);
      };
      const auto a = positive_matrix(n, stride);
      auto factor = a;
      ASSERT_TRUE(matrices.factorise(n, factor.data(), stride));
      std::vector<double> inverse(static_cast<std::size_t>(n * (n + 1)), 5);
      matrices.invert_factor(n, factor.data(), stride, inverse.data(), n + 1);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double square = 0;
          double unit = 0;
          for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
            square += factor[at(i, k, stride)] * factor[at(j, k, stride)];
          }
          for (std::int64_t k = j; k <= i; ++k) {
            unit += factor[at(i, k, stride)] * inverse[at(k, j, n + 1)];
          }
          ASSERT_NEAR(square, a[at(i, j, stride)], 1e-12);
          ASSERT_NEAR(unit, i == j ? 1 : 0, 1e-12);
          if (i < j) {
            ASSERT_EQ(inverse[at(i, j, n + 1)], 0);
            ASSERT_EQ(factor[at(i, j, stride)], a[at(i, j, stride)]) << "the upper triangle stays";
          }
        }
      }
      EXPECT_EQ(inverse[static_cast<std::size_t>(n)], 5) << "beside the matrix";
    }
  }
}

// Of matrices of at least a tile: wherever they lie, sums are in the same order.
TEST(Matrices, BytesDoNotDependOnTheAddress) {
  constexpr std::int64_t n = 49;
  const auto a = positive_matrix(n, n);
  for (const SimdLevel level : levels()) {
    const MatrixFunctions& matrices = matrix_functions_of(level);
    std::vector<double> expected;
    for (std::size_t offset = 0; offset < 8; ++offset) {
      std::vector<double> memory(5 * a.size() + 8);
      double* const factor = memory.data() + offset;
      double* const inverse = factor + a.size();
      double* const product = inverse + a.size();
      std::copy(a.begin(), a.end(), factor);
      ASSERT_TRUE(matrices.factorise(n, factor, n));
      matrices.invert_factor(n, factor, n, inverse, n);
      for (const int transposed : {0, 1, 2}) {
        matrices.multiply_doubles({n, n, n, factor, n, inverse, n, transposed == 1,
                                   product + transposed * a.size(), n, transposed == 2});
      }
      const std::vector<double> found(factor, factor + 5 * a.size());
      if (expected.empty()) expected = found;
      ASSERT_EQ(found, expected) << offset;
    }
  }
}

TEST(Matrices, OnlyPositiveOnesHaveAFactor) {
  for (const SimdLevel level : levels()) {
    const MatrixFunctions& matrices = matrix_functions_of(level);
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
      for (const std::int64_t place : {0, 20, 32}) {
        auto a = positive_matrix(33, 33);
        a[static_cast<std::size_t>(place * 34)] = bad;
        EXPECT_FALSE(matrices.factorise(33, a.data(), 33)) << bad << " at " << place;
      }
    }
  }
}

}  // namespace
}  // namespace ancify
