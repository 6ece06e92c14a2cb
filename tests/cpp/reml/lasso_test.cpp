// The lasso against the conditions of its minimum, and against its solution where Q is diagonal.
#include "core/reml/linear_algebra/lasso.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include "core/exec/errors.h"
#include "reml/random_data.h"

namespace ancify::reml::test {
namespace {

void nothing() {}

// Q = A'A and q = A'y for a random A of rows x size, whose columns 0 and 1 are equal.
struct LassoCase {
  LassoCase(std::size_t rows, std::size_t size, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<Vector> a(size, Vector(rows));
    Vector y(rows);
    for (double& value : y) value = normal(random);
    for (Vector& column : a) {
      for (double& value : column) value = normal(random);
    }
    a[1] = a[0];
    for (std::size_t i = 0; i < rows; ++i) y[i] += 2 * a[0][i] - a[5][i];
    for (std::size_t j = 0; j < size; ++j) {
      q.push_back(dot_of(a[j], y));
      q_matrix.emplace_back();
      for (std::size_t i = 0; i < size; ++i) q_matrix[j].push_back(dot_of(a[i], a[j]));
      largest = std::max(largest, std::abs(q[j]));
    }
  }

  static double dot_of(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  double violation(const Vector& b, double lambda) const {
    double worst = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const double slope = q[j] - dot_of(q_matrix[j], b);
      worst = std::max(worst, lasso_violation(b[j], slope, lambda));
    }
    return worst;
  }

  SymmetricColumns q_matrix;
  Vector q;
  double largest = 0;
};

TEST(LassoTest, MeetsTheConditionsOfTheMinimum) {
  for (const std::size_t rows : {200U, 30U}) {  // of full rank, and not
    const LassoCase of(rows, 60, 3);
    Vector b(60);
    for (const double share : {1.0, 0.7, 0.3, 0.1, 0.02, 0.5}) {
      const double lambda = share * of.largest;
      minimise_lasso(of.q_matrix, of.q, lambda, 1e-10 * of.largest, nothing, b);
      EXPECT_LE(of.violation(b, lambda), 2e-10 * of.largest);
      if (share == 1.0) {
        EXPECT_EQ(b, Vector(60));
      } else {
        EXPECT_GT(b[0] + b[1], 0);
      }
    }
  }
}

TEST(LassoTest, ShrinksEachEffectOfADiagonalMatrix) {
  const SymmetricColumns q_matrix = {{2, 0, 0}, {0, 4, 0}, {0, 0, 5}};
  Vector b = {0, 0, 7};
  minimise_lasso(q_matrix, {6, -8, 1}, 2, 1e-12, nothing, b);
  EXPECT_NEAR(b[0], 2, 1e-12);
  EXPECT_NEAR(b[1], -1.5, 1e-12);
  EXPECT_EQ(b[2], 0);
}

TEST(LassoTest, IsStopped) {
  const LassoCase of(200, 60, 4);
  Vector b(60);
  EXPECT_THROW(minimise_lasso(
                   of.q_matrix, of.q, 0.1 * of.largest, 0, [] { throw Interrupted(); }, b),
               Interrupted);
}

TEST(LassoPath, IsTheMinimumAtEachLambda) {
  // With more effects than rows Q is singular, and effects leave the active set again.
  for (const auto& [rows, size] : {std::pair{60, 20}, std::pair{25, 60}}) {
    const LassoCase one(static_cast<std::size_t>(rows), static_cast<std::size_t>(size), 7);
    LassoPath path(one.q_matrix, one.q);
    for (const double share : {1.5, 1.0, 0.8, 0.5, 0.2, 0.05}) {
      const double lambda = share * one.largest;
      const Vector b = path.at(lambda, nothing);
      EXPECT_LT(one.violation(b, lambda), 1e-9 * one.largest) << share;
      EXPECT_EQ(share >= 1, std::all_of(b.begin(), b.end(), [](double x) { return x == 0; }));
      Vector same = b;
      minimise_lasso(one.q_matrix, one.q, lambda, 1e-8 * one.largest, nothing, same);
      EXPECT_EQ(same, b);
    }
  }
}

TEST(LassoPath, StopsWhereItIsTold) {
  const LassoCase one(60, 20, 8);
  LassoPath path(one.q_matrix, one.q);
  EXPECT_THROW(path.at(0.1 * one.largest, [] { throw InputError("stop"); }), InputError);
}

}  // namespace
}  // namespace ancify::reml::test
