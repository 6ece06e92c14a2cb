// Compares bounded steps with the best of all active sets, tried one by one.
#include "core/reml/fit/steps.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/exec/errors.h"
#include "gtest/gtest.h"

namespace ancify::reml {
namespace {

using Vector = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Gauss-Jordan elimination with row exchanges: x with a x = b.
Vector plain_solve(std::vector<Vector> a, Vector b) {
  const std::size_t k = b.size();
  for (std::size_t j = 0; j < k; ++j) {
    std::size_t pivot = j;
    for (std::size_t i = j + 1; i < k; ++i) {
      if (std::abs(a[i][j]) > std::abs(a[pivot][j])) pivot = i;
    }
    std::swap(a[j], a[pivot]);
    std::swap(b[j], b[pivot]);
    for (std::size_t i = 0; i < k; ++i) {
      if (i == j) continue;
      const double times = a[i][j] / a[j][j];
      for (std::size_t l = j; l < k; ++l) a[i][l] -= times * a[j][l];
      b[i] -= times * b[j];
    }
  }
  for (std::size_t j = 0; j < k; ++j) b[j] /= a[j][j];
  return b;
}

double objective(const LocalModel& model, const Vector& d) {
  const std::size_t k = d.size();
  double value = 0;
  for (std::size_t i = 0; i < k; ++i) {
    value += model.score[i] * d[i];
    for (std::size_t j = 0; j < k; ++j) value -= 0.5 * d[i] * model.information[i * k + j] * d[j];
  }
  return value;
}

// The best step over all sets of components that are held at their bound.
Vector best_step(const LocalModel& model) {
  const std::size_t k = model.theta.size();
  Vector best(k, 0);
  for (unsigned set = 0; set < (1U << k); ++set) {
    Vector d(k, 0);
    std::vector<Vector> a(k, Vector(k, 0));
    Vector b(k, 0);
    bool possible = true;
    for (std::size_t i = 0; i < k; ++i) {
      const double room = model.lower[i] - model.theta[i];
      if ((set >> i & 1U) != 0) {
        possible = possible && room > -kInfinity;
        a[i][i] = 1;
        b[i] = room;
      } else {
        for (std::size_t j = 0; j < k; ++j) a[i][j] = model.information[i * k + j];
        b[i] = model.score[i];
      }
    }
    if (!possible) continue;
    d = plain_solve(a, b);
    for (std::size_t i = 0; i < k; ++i) {
      possible = possible && d[i] >= model.lower[i] - model.theta[i] - 1e-12;
    }
    if (possible && objective(model, d) > objective(model, best)) best = d;
  }
  return best;
}

// Components of very different sizes, some at their bound, some without one.
LocalModel random_model(std::mt19937& random, std::size_t k) {
  std::normal_distribution<double> normal;
  std::vector<Vector> factor(k + 6, Vector(k));
  for (auto& row : factor) {
    for (double& value : row) value = normal(random);
  }
  LocalModel model;
  for (std::size_t i = 0; i < k; ++i) {
    const double size = std::pow(10, static_cast<double>(random() % 7) - 3);
    for (auto& row : factor) row[i] /= size;
    const auto kind = random() % 3;
    model.lower.push_back(kind == 0 ? -kInfinity : 0.1 * size);
    model.theta.push_back(kind == 1 ? 0.1 * size : size * (0.1 + std::abs(normal(random))));
    model.score.push_back(3 * normal(random) / size);
  }
  model.information.assign(k * k, 0);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      for (const auto& row : factor) model.information[i * k + j] += row[i] * row[j];
    }
  }
  return model;
}

TEST(Steps, AreTheBestOfAllActiveSets) {
  std::mt19937 random(1);
  int bounded = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const std::size_t k = 1 + trial % 6;
    const LocalModel model = random_model(random, k);
    const Vector expected = best_step(model);
    const Step step = bounded_step(model, kInfinity);
    for (std::size_t i = 0; i < k; ++i) {
      const double scale = 1 / std::sqrt(model.information[i * k + i]);
      ASSERT_NEAR((step.theta[i] - model.theta[i] - expected[i]) / scale, 0, 1e-7) << trial;
      ASSERT_GE(step.theta[i], model.lower[i]);
      const bool meets = std::abs(model.theta[i] + expected[i] - model.lower[i]) < 1e-9 * scale;
      if (meets) {
        ASSERT_EQ(step.theta[i], model.lower[i]) << trial;
      }
      bounded += meets ? 1 : 0;
    }
  }
  EXPECT_GT(bounded, 300);
}

TEST(Steps, AreShortenedToTheRadius) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const LocalModel model = random_model(random, 4);
    const Step whole = bounded_step(model, kInfinity);
    const Step half = bounded_step(model, whole.length / 2);
    EXPECT_NEAR(half.length, whole.length / 2, 1e-12 * whole.length);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(half.theta[i], (model.theta[i] + whole.theta[i]) / 2,
                  1e-12 * std::abs(whole.theta[i]) + 1e-12 * std::abs(model.theta[i]));
    }
  }
}

// Free components leave d'Id = s'I^-1 s at the full step.
TEST(Steps, PromiseTheDecrement) {
  std::mt19937 random(3);
  LocalModel model = random_model(random, 5);
  model.lower.assign(5, -kInfinity);
  EXPECT_NEAR(decrement(model) / (2 * objective(model, best_step(model))), 1, 1e-8);
  EXPECT_NEAR(std::pow(bounded_step(model, kInfinity).length, 2) / decrement(model), 1, 1e-8);
  // A component that is held at its bound takes no part in it.
  model.lower[2] = model.theta[2];
  model.score[2] = -std::abs(model.score[2]);
  EXPECT_EQ(at_bound(model), (std::vector<char>{0, 0, 1, 0, 0}));
  LocalModel rest;
  for (const std::size_t i : {0, 1, 3, 4}) {
    rest.theta.push_back(model.theta[i]);
    rest.lower.push_back(-kInfinity);
    rest.score.push_back(model.score[i]);
    for (const std::size_t j : {0, 1, 3, 4}) {
      rest.information.push_back(model.information[i * 5 + j]);
    }
  }
  EXPECT_NEAR(decrement(model) / decrement(rest), 1, 1e-8);
}

TEST(Steps, WithoutInformationFollowTheScore) {
  const LocalModel down{{1, 2}, {0, 0.5}, {-3, 0}, {0, 0, 0, 4}};
  EXPECT_EQ(bounded_step(down, kInfinity).theta, (Vector{0, 2}));
  const LocalModel up{{1, 2}, {0, 0.5}, {3, 0}, {0, 0, 0, 4}};
  EXPECT_GT(bounded_step(up, kInfinity).theta[0], 1000);
  EXPECT_GT(decrement(up), 1000);
  const LocalModel nothing{{1, 2}, {0, 0.5}, {0, 0}, {0, 0, 0, 0}};
  EXPECT_EQ(bounded_step(nothing, kInfinity).theta, (Vector{1, 2}));
  EXPECT_EQ(decrement(nothing), 0);
}

TEST(FreeInverse, LeavesOutComponentsAtTheirBound) {
  const Vector information = {4, 1, 0.5, 1, 2, 0.25, 0.5, 0.25, 1};
  const Vector inverse = free_inverse(information, {0, 1, 0});
  const double determinant = 4 * 1 - 0.5 * 0.5;
  const Vector expected = {1 / determinant,    0, -0.5 / determinant, 0, 0, 0,
                           -0.5 / determinant, 0, 4 / determinant};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(inverse[i], expected[i], 1e-15);
}

TEST(FreeInverse, NamesAComponentThatEqualsAnother) {
  const Vector twice = {4, 2, 4, 2, 3, 2, 4, 2, 4};
  try {
    free_inverse(twice, {0, 0, 0});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("component 3"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(free_inverse(twice, {0, 0, 1}));
}

}  // namespace
}  // namespace ancify::reml
