// Images of maps, intact and corrupted.
#include "core/autoencoder/images.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "autoencoder/cells.h"

namespace ancify::autoencoder {
namespace {

constexpr std::int64_t kPoints = 20;
constexpr std::int64_t kSize = 32;
constexpr double kUnit = 2;

struct Image {
  std::vector<float> values = std::vector<float>(2 * kSize * kSize, -1.0F);
  float distance(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * kSize + j)];
  }
  float seen(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>((kSize + i) * kSize + j)];
  }
};

double distance(test::Cells& cells, std::int64_t cell, std::int64_t i, std::int64_t j) {
  double square = 0;
  for (std::int64_t k = 0; k < 3; ++k) {
    square += std::pow(cells.axis(cell, k)[i] - cells.axis(cell, k)[j], 2);
  }
  return std::sqrt(square);
}

TEST(MapImages, HaveDistancesInUnits) {
  test::Cells cells(kPoints, 2, 1);
  const ImageMaker maker(cells.maps(), {Task::kInpaint, kPoints, 4}, kUnit);
  Image image;
  maker.make_input(1, image.values.data());
  Image target;
  maker.make_target(1, target.values.data());
  for (std::int64_t i = 0; i < kSize; ++i) {
    for (std::int64_t j = 0; j < kSize; ++j) {
      if (i == j || i >= kPoints || j >= kPoints) {
        EXPECT_EQ(image.distance(i, j), 0);
        EXPECT_EQ(image.seen(i, j), 0);
        EXPECT_TRUE(std::isnan(target.distance(i, j)));
      } else {
        EXPECT_NEAR(image.distance(i, j), distance(cells, 1, i, j) / kUnit, 1e-6);
        EXPECT_EQ(image.seen(i, j), 1);
        EXPECT_EQ(target.distance(i, j), image.distance(i, j));
      }
    }
  }
}

TEST(MapImages, HaveAbsentPointsOnTheLineBetweenNeighbours) {
  test::Cells cells(kPoints, 1, 2);
  test::Cells filled = cells;
  for (std::int64_t k = 0; k < 3; ++k) {
    double* const x = filled.axis(0, k);
    x[0] = x[1] = x[2];
    x[8] = x[7] + (x[10] - x[7]) / 3;
    x[9] = x[7] + (x[10] - x[7]) * 2 / 3;
    x[19] = x[18];
  }
  for (const std::int64_t point : {0, 1, 8, 9, 19}) cells.hide(0, point);
  const ImageMaker maker(cells.maps(), {Task::kInpaint, kPoints, 4}, kUnit);
  Image image;
  maker.make_input(0, image.values.data());
  Image target;
  maker.make_target(0, target.values.data());
  const std::set<std::int64_t> absent = {0, 1, 8, 9, 19};
  for (std::int64_t i = 0; i < kPoints; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      EXPECT_NEAR(image.distance(i, j), distance(filled, 0, i, j) / kUnit, 1e-6);
      const bool seen = absent.count(i) + absent.count(j) == 0;
      EXPECT_EQ(image.seen(i, j), seen ? 1 : 0);
      EXPECT_EQ(std::isnan(target.distance(i, j)), !seen);
    }
  }
}

// The points whose pairs with most others differ.
std::set<std::int64_t> changed_points(const Image& a, const Image& b, bool by_seen) {
  std::set<std::int64_t> points;
  for (std::int64_t i = 0; i < kPoints; ++i) {
    int changed = 0;
    for (std::int64_t j = 0; j < kPoints; ++j) {
      changed += by_seen ? a.seen(i, j) != b.seen(i, j) : a.distance(i, j) != b.distance(i, j);
    }
    if (changed > kPoints / 2) points.insert(i);
  }
  return points;
}

TEST(CorruptedMaps, HideOrMoveTheirShareOfPoints) {
  const test::Cells cells(kPoints, 300, 3);
  for (const Task task : {Task::kInpaint, Task::kDenoise}) {
    const ImageMaker maker(cells.maps(), {task, kPoints, 4}, kUnit);
    std::size_t changed = 0;
    for (std::int64_t cell = 0; cell < 300; ++cell) {
      Image whole;
      Image corrupted;
      Image again;
      maker.make_input(cell, whole.values.data());
      maker.make_corrupted(cell, {0.1, 5, 6}, corrupted.values.data());
      maker.make_corrupted(cell, {0.1, 5, 6}, again.values.data());
      ASSERT_EQ(corrupted.values, again.values);
      changed += changed_points(whole, corrupted, task == Task::kInpaint).size();
    }
    // 6,000 points, each with the chance 0.1
    EXPECT_NEAR(static_cast<double>(changed) / 6000, 0.1, 4 * std::sqrt(0.09 / 6000));
  }
}

TEST(CorruptedMaps, MovePointsByTheRadiusOfGyration) {
  test::Cells cells(kPoints, 400, 4);
  const ImageMaker maker(cells.maps(), {Task::kDenoise, kPoints, 4}, kUnit);
  double squares = 0;
  double moved = 0;
  for (std::int64_t cell = 0; cell < 400; ++cell) {
    Image whole;
    Image corrupted;
    maker.make_input(cell, whole.values.data());
    maker.make_corrupted(cell, {0.05, 7, 8}, corrupted.values.data());
    const std::set<std::int64_t> points = changed_points(whole, corrupted, false);
    if (points.size() != 1) continue;
    // Its squared distance to all points grows by 3 radius^2 on average; the squared distance of a
    // pair is 2 radius^2 on average.
    double before = 0;
    double after = 0;
    double pairs = 0;
    for (std::int64_t j = 0; j < kPoints; ++j) {
      before += std::pow(whole.distance(*points.begin(), j), 2);
      after += std::pow(corrupted.distance(*points.begin(), j), 2);
      for (std::int64_t i = 0; i < kPoints; ++i) pairs += std::pow(whole.distance(i, j), 2);
    }
    const double radius = std::sqrt(pairs / 2) / kPoints;
    squares += (after - before) / (kPoints - 1) / (radius * radius);
    ++moved;
  }
  EXPECT_GT(moved, 100);
  EXPECT_NEAR(squares / moved, 3, 1);
}

TEST(CorruptedMaps, KeepFourPoints) {
  const test::Cells cells(kPoints, 1, 5);
  const ImageMaker maker(cells.maps(), {Task::kInpaint, kPoints, 4}, kUnit);
  Image whole;
  Image corrupted;
  maker.make_input(0, whole.values.data());
  maker.make_corrupted(0, {0.999, 1, 1}, corrupted.values.data());
  EXPECT_EQ(corrupted.values, whole.values);
}

}  // namespace
}  // namespace ancify::autoencoder
