// Checks steps over covariance matrices by the conditions of the convex programme's maximum: its
// gradient G at C + d is negative semidefinite, and tr(G (C + d)) is 0.
#include "core/reml/multivariate/cone_step.h"

#include <cmath>
#include <random>

#include "core/numerics/symmetric_eigen.h"
#include "core/reml/multivariate/trait_pairs.h"
#include "gtest/gtest.h"

namespace ancify::reml {
namespace {

using Vector = std::vector<double>;

// Two blocks of size t. The first is near the boundary of its cone.
ConeModel random_model(std::size_t t, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const std::size_t m = number_of_pairs(t);
  const std::size_t k = 2 * m;
  ConeModel model;
  model.blocks = {{0, t, 0}, {m, t, 1e-3}};
  model.fixed.assign(k, 0);
  for (int block = 0; block < 2; ++block) {
    for (const TraitPair& pair : trait_pairs(t)) {
      model.at.push_back(pair.same() ? (block == 0 ? 0.1 : 2.0) : 0);
    }
  }
  for (std::size_t j = 0; j < k; ++j) model.score.push_back(3 * normal(random));
  Vector root(k * k);
  for (double& value : root) value = normal(random);
  model.information.resize(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t l = 0; l < k; ++l) {
        model.information[j * k + i] += root[l * k + i] * root[l * k + j];
      }
    }
  }
  return model;
}

TEST(ConeStep, MeetsTheConditionsOfTheMaximum) {
  std::mt19937 random(1);
  int bound = 0;
  for (int draw = 0; draw < 200; ++draw) {
    const std::size_t t = 2 + draw % 2;
    const ConeModel model = random_model(t, random);
    const Vector d = cone_step(model);
    const std::size_t k = d.size();
    Vector gradient = model.score;
    for (std::size_t j = 0; j < k; ++j) {
      for (std::size_t i = 0; i < k; ++i) gradient[i] -= model.information[j * k + i] * d[j];
    }
    for (const CovarianceBlock& block : model.blocks) {
      const auto pairs = trait_pairs(t);
      Vector room;
      Vector slope;
      double product = 0;
      for (std::size_t j = 0; j < pairs.size(); ++j) {
        const std::size_t at = block.first + j;
        room.push_back(model.at[at] + d[at] - (pairs[j].same() ? block.floor : 0));
        slope.push_back(pairs[j].same() ? gradient[at] : gradient[at] / 2);
        product += room.back() * gradient[at];
      }
      const Vector left = symmetric_eigenpairs(t, unpacked(t, room.data())).values;
      const Vector rising = symmetric_eigenpairs(t, unpacked(t, slope.data())).values;
      EXPECT_GE(left.back(), -1e-12);
      EXPECT_LE(rising.front(), 1e-7);
      EXPECT_NEAR(product, 0, 1e-7);
      bound += left.back() < 1e-9 ? 1 : 0;
    }
  }
  EXPECT_GT(bound, 50);
}

TEST(ConeStep, IsNewtonsStepInsideAllCones) {
  std::mt19937 random(2);
  ConeModel model = random_model(2, random);
  for (double& value : model.score) value *= 1e-9;
  const Vector d = cone_step(model);
  const std::size_t k = d.size();
  for (std::size_t i = 0; i < k; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) sum += model.information[j * k + i] * d[j];
    EXPECT_NEAR(sum, model.score[i], 1e-15);
  }
}

TEST(ConeStep, LeavesFixedCoordinates) {
  std::mt19937 random(3);
  for (int draw = 0; draw < 20; ++draw) {
    ConeModel model = random_model(3, random);
    model.fixed[1] = 1;
    EXPECT_EQ(cone_step(model)[1], 0);
  }
}

}  // namespace
}  // namespace ancify::reml
