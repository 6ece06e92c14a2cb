// Reductions to tridiagonal form against products with the matrix, and its eigenvalues.
#include "core/reml/linear_algebra/tridiagonal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "core/exec/errors.h"
#include "matrices/random_numbers.h"

namespace ancify::reml {
namespace {

using Vector = std::vector<double>;

// Symmetric matrices with NaN above the diagonal, which is not read.
Vector lower_triangle(int n, const std::function<double(std::int64_t, std::int64_t)>& number) {
  Vector a(area(n, n), std::nan(""));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) a[area(j, n) + static_cast<std::size_t>(i)] = number(i, j);
  }
  return a;
}

Vector of_rank(int n, std::int64_t rank) {
  const Vector z = random_numbers<double>(n * rank, 7);
  return lower_triangle(n, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < rank; ++k) {
      sum += z[static_cast<std::size_t>(k * n + i)] * z[static_cast<std::size_t>(k * n + j)];
    }
    return sum;
  });
}

std::vector<Vector> matrices_of(int n) {
  return {of_rank(n, n + 5),
          of_rank(n, 1),
          lower_triangle(n, [](std::int64_t, std::int64_t) { return 0.0; }),
          lower_triangle(n, [](std::int64_t i, std::int64_t j) { return i == j ? i + 1.5 : 0.0; }),
          lower_triangle(n, [](std::int64_t i, std::int64_t j) { return i - j < 2 ? 1.0 : 0.0; }),
          lower_triangle(n, [](std::int64_t i, std::int64_t j) { return 1e150 / (1.0 + i + j); }),
          lower_triangle(n, [](std::int64_t i, std::int64_t j) { return 1e-150 / (1.0 + i + j); })};
}

Vector times(const Vector& a, const Vector& b) {
  const std::size_t n = b.size();
  Vector result(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) result[i] += a[std::min(i, j) * n + std::max(i, j)] * b[j];
  }
  return result;
}

Vector times(const Tridiagonal& form, const Vector& b) {
  Vector result(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    result[i] = form.diagonal()[i] * b[i];
    if (i > 0) result[i] += form.off_diagonal()[i - 1] * b[i - 1];
    if (i + 1 < b.size()) result[i] += form.off_diagonal()[i] * b[i + 1];
  }
  return result;
}

// Around the ends of panels, tiles and shares.
TEST(Tridiagonal, IsTheMatrixInOtherCoordinates) {
  for (const int n : {1, 2, 3, 23, 24, 25, 26, 48, 49, 119, 120, 121, 281, 400}) {
    for (const Vector& a : matrices_of(n)) {
      double scale = 0;
      for (const double number : a) scale = std::max(scale, std::isnan(number) ? 0 : number);
      const double tolerance = 2e-14 * n * scale;
      Vector overwritten = a;
      JobControl control;
      const Tridiagonal form({control, 2}, n, overwritten.data());
      const Vector b = random_numbers<double>(n, 8);
      Vector rotated = b;
      form.rotate(true, 1, rotated.data());
      Vector found = times(form, rotated);
      form.rotate(false, 1, found.data());
      const Vector expected = times(a, b);
      for (std::size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << n;
      Vector again = a;
      const Vector eigenvalues = symmetric_eigen(n, again.data(), false);
      const Vector of_form = form.eigenvalues();
      for (std::size_t i = 0; i < b.size(); ++i) {
        ASSERT_NEAR(of_form[i], eigenvalues[i], tolerance) << n;
      }
    }
  }
}

TEST(Tridiagonal, RotatesManyColumnsAsEach) {
  const int n = 100;
  const int columns = 20;
  Vector a = of_rank(n, n);
  JobControl control;
  const Tridiagonal form({control, 2}, n, a.data());
  for (const bool transposed : {false, true}) {
    const Vector before = random_numbers<double>(n * columns, 8);
    Vector together = before;
    Vector each = before;
    form.rotate(transposed, columns, together.data());
    for (int c = 0; c < columns; ++c) form.rotate(transposed, 1, &each[area(c, n)]);
    for (std::size_t i = 0; i < each.size(); ++i) ASSERT_NEAR(together[i], each[i], 1e-13);
  }
}

TEST(Tridiagonal, HasTheSameBytesOnAnyNumberOfThreads) {
  const int n = 500;
  const Vector a = of_rank(n, n);
  std::vector<Vector> found;
  for (const int threads : {1, 2, 5}) {
    Vector overwritten = a;
    JobControl control;
    const Tridiagonal form({control, threads}, n, overwritten.data());
    found.push_back(form.diagonal());
    found.back().insert(found.back().end(), form.off_diagonal().begin(), form.off_diagonal().end());
    Vector b = random_numbers<double>(n, 8);
    form.rotate(true, 1, b.data());
    found.back().insert(found.back().end(), b.begin(), b.end());
    EXPECT_EQ(found.back(), found.front()) << threads;
  }
}

// True if a form was stopped after it began to overwrite its matrix.
bool stopped_on_the_way() {
  const int n = 1500;
  const Vector before = of_rank(n, 3);
  Vector a = before;
  JobControl control;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    control.request_stop();
  });
  bool stopped = false;
  try {
    const Tridiagonal form({control, 2}, n, a.data());
  } catch (const Interrupted&) {
    stopped = true;
  }
  stopper.join();
  return stopped && a[1] != before[1];
}

// Other work may delay either thread, so the test tries again.
TEST(Tridiagonal, CanBeStoppedOnTheWay) {
  bool stopped = false;
  for (int attempt = 0; attempt < 50 && !stopped; ++attempt) stopped = stopped_on_the_way();
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace ancify::reml
