// Checks sums and updates of long columns against plain loops, at several numbers of threads.
#include "core/reml/linear_algebra/tall_blocks.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "reml/plain_reml.h"
#include "reml/random_data.h"

namespace ancify::reml {
namespace {

using test::Vector;

TEST(TallBlocks, EqualPlainLoops) {
  JobControl control;
  const Workers workers = {control, 2};
  std::mt19937 random(1);
  for (const std::size_t n : {1, 3, 1023, 1024, 5000}) {
    for (const std::size_t rank : {0, 1, 4, 7}) {
      const Vector u = test::random_matrix(random, n, rank);
      const Vector v = test::random_matrix(random, n, 3);
      const Vector w = test::random_matrix(random, rank, 3);
      Vector cross(rank * 3);
      cross_block(workers, static_cast<std::int64_t>(n), static_cast<int>(rank), 3, u.data(),
                  v.data(), cross.data());
      Vector sum = v;
      add_block(workers, static_cast<std::int64_t>(n), static_cast<int>(rank), 3, -2, u.data(),
                w.data(), sum.data());
      Vector products(3);
      column_products(workers, static_cast<std::int64_t>(n), 3, v.data(), v.data(),
                      products.data());
      for (std::size_t c = 0; c < 3; ++c) {
        const Vector column(v.begin() + static_cast<std::ptrdiff_t>(c * n),
                            v.begin() + static_cast<std::ptrdiff_t>((c + 1) * n));
        EXPECT_NEAR(products[c], test::plain_dot(column, column), 1e-12 * products[c]);
        for (std::size_t k = 0; k < rank; ++k) {
          const Vector direction(u.begin() + static_cast<std::ptrdiff_t>(k * n),
                                 u.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
          EXPECT_NEAR(cross[c * rank + k], test::plain_dot(direction, column), 1e-10);
        }
        for (std::size_t i = 0; i < n; ++i) {
          double expected = column[i];
          for (std::size_t k = 0; k < rank; ++k) expected -= 2 * u[k * n + i] * w[c * rank + k];
          ASSERT_NEAR(sum[c * n + i], expected, 1e-12);
        }
      }
    }
  }
}

TEST(TallBlocks, HaveEqualBytesAtAnyNumberOfThreads) {
  std::mt19937 random(2);
  const Vector u = test::random_matrix(random, 20000, 5);
  const Vector v = test::random_matrix(random, 20000, 4);
  std::vector<Vector> results;
  for (const int threads : {1, 2, 8}) {
    JobControl control;
    Vector cross(20);
    cross_block({control, threads}, 20000, 5, 4, u.data(), v.data(), cross.data());
    results.push_back(cross);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace ancify::reml
