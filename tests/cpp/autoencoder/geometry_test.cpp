// The geometry loss against SMACOF's start, and its gradient against differences.
#include "core/autoencoder/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "autoencoder/cells.h"
#include "core/chromatin/map_pairs.h"
#include "core/chromatin/structures.h"
#include "nn/gradients.h"

namespace ancify::autoencoder {
namespace {

constexpr std::int64_t kPoints = 9;

std::vector<double> square_of(const test::Cells& cells) {
  return chromatin::square_map(cells.points, cells.distances.data());
}

// A map that no set of points has.
std::vector<double> inexact(std::vector<double> map) {
  const std::size_t n = kPoints;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      map[i * n + j] *= 1 + 0.1 * std::sin(static_cast<double>(3 * i + 5 * j));
      map[j * n + i] = map[i * n + j];
    }
  }
  return map;
}

TEST(GeometryError, OfPointsIsThatOfTheirMap) {
  const test::Cells cells(kPoints, 1, 1);
  const std::vector<double> map = square_of(cells);
  std::vector<double> target = map;
  EXPECT_NEAR(geometry_error(kPoints, map.data(), target.data(), 0, 1, nullptr).sum, 0, 1e-16);
  target[1] = map[1] + 0.5;
  target[2] = std::nan("");
  const SquaredError error = geometry_error(kPoints, map.data(), target.data(), 0, 1, nullptr);
  EXPECT_NEAR(error.sum, 0.25, 1e-8);
  EXPECT_EQ(error.known, 35);
}

TEST(GeometryError, HasTheDistancesOfClassicalScaling) {
  const test::Cells cells(kPoints, 1, 2);
  const std::vector<double> target = square_of(cells);
  const std::vector<double> map = inexact(target);
  std::vector<double> upper;
  for (std::size_t j = 1; j < kPoints; ++j) {
    for (std::size_t i = 0; i < j; ++i) upper.push_back(map[i * kPoints + j]);
  }
  const std::vector<double> x = chromatin::fit_structure(kPoints, upper.data(), {0, 1}).coordinates;
  double sum = 0;
  for (std::size_t j = 1; j < kPoints; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      double square = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        square += std::pow(x[k * kPoints + i] - x[k * kPoints + j], 2);
      }
      sum += std::pow(std::sqrt(square) - target[i * kPoints + j], 2);
    }
  }
  EXPECT_NEAR(geometry_error(kPoints, map.data(), target.data(), 0, 1, nullptr).sum, sum, 1e-9);
}

TEST(GeometryGradient, EqualsDifferences) {
  const test::Cells cells(kPoints, 1, 3);
  std::vector<double> target = square_of(cells);
  std::vector<double> map = inexact(target);
  target[2 * kPoints + 7] = target[7 * kPoints + 2] = std::nan("");
  std::vector<double> gradient(map.size(), 0.0);
  geometry_error(kPoints, map.data(), target.data(), 0, 3, gradient.data());
  const std::size_t n = kPoints;
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      // Both entries of a pair change.
      double shared = map[i * n + j];
      const double wanted = test::difference(shared, [&] {
        map[i * n + j] = map[j * n + i] = shared;
        return 3 * geometry_error(kPoints, map.data(), target.data(), 0, 1, nullptr).sum;
      });
      map[i * n + j] = map[j * n + i] = shared;
      EXPECT_NEAR(gradient[i * n + j] + gradient[j * n + i], wanted, test::kTolerance)
          << i << " " << j;
    }
  }
}

TEST(GeometryGradient, OfEqualEigenvaluesIsDamped) {
  // All distances are equal: all eigenvalues but one are.
  std::vector<double> map(kPoints * kPoints, 1.0);
  std::vector<double> target(kPoints * kPoints, 2.0);
  for (std::size_t i = 0; i < kPoints; ++i) map[i * (kPoints + 1)] = target[i * (kPoints + 1)] = 0;
  std::vector<double> gradient(map.size(), 0.0);
  geometry_error(kPoints, map.data(), target.data(), 0.01, 1, gradient.data());
  for (const double value : gradient) {
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_LT(std::fabs(value), 2000);
  }
}

TEST(GeometryGradient, OfImagesIsTheMeans) {
  const TaskContext context;
  const test::Cells cells(kPoints, 2, 4);
  constexpr std::int64_t size = 16;
  Batch<double> out;
  Batch<double> target;
  out.resize(2, size * size);
  target.resize(2, size * size);
  std::fill(target.data.begin(), target.data.end(), std::nan(""));
  for (std::int64_t cell = 0; cell < 2; ++cell) {
    const double* const map = cells.distances.data() + cell * chromatin::pairs_of(kPoints);
    const std::vector<double> exact = chromatin::square_map(kPoints, map);
    const std::vector<double> wrong = inexact(exact);
    for (std::int64_t i = 0; i < kPoints; ++i) {
      for (std::int64_t j = 0; j < kPoints; ++j) {
        const auto at = static_cast<std::size_t>(i * kPoints + j);
        out.row(cell)[i * size + j] = wrong[at];
        if (i != j) target.row(cell)[i * size + j] = exact[at];
      }
    }
  }
  Batch<double> gradient;
  masked_squared_error(out, out, &gradient);  // zeros
  const SquaredError error =
      add_geometry_error<double>(kPoints, size, out, target, 0.7, context, &gradient);
  EXPECT_EQ(error.known, 72);
  // A step against the gradient lowers the loss by the gradient's square.
  double squares = 0;
  Batch<double> moved = out;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    squares += gradient.data[i] * gradient.data[i];
    moved.data[i] -= 1e-4 * gradient.data[i];
  }
  const double after =
      add_geometry_error<double>(kPoints, size, moved, target, 0.7, context, nullptr).mean();
  EXPECT_GT(squares, 1e-6);
  EXPECT_NEAR(0.7 * (error.mean() - after), 1e-4 * squares, 0.05 * 1e-4 * squares);
}

}  // namespace
}  // namespace ancify::autoencoder
