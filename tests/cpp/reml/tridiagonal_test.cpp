// Reductions to tridiagonal form against products with the matrix, and its eigenvalues.
#include "core/reml/tridiagonal.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "matrices/random_numbers.h"

namespace ancify::reml {
namespace {

using Vector = std::vector<double>;

// A symmetric matrix: of full rank, or of rank 3.
Vector random_symmetric(int n, bool full) {
  const std::int64_t rank = full ? n + 5 : 3;
  const Vector z = random_numbers<double>(n * rank, 7);
  Vector a(area(n, n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < rank; ++k) {
        a[area(j, n) + static_cast<std::size_t>(i)] +=
            z[static_cast<std::size_t>(k * n + i)] * z[static_cast<std::size_t>(k * n + j)];
      }
    }
  }
  return a;
}

Vector times(const Vector& a, const Vector& b) {
  const std::size_t n = b.size();
  Vector result(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) result[i] += a[j * n + i] * b[j];
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

TEST(Tridiagonal, IsTheMatrixInOtherCoordinates) {
  for (const bool full : {true, false}) {
    for (const int n : {1, 2, 3, 31, 32, 33, 34, 49, 100, 273, 400}) {
      const Vector a = random_symmetric(n, full);
      Vector overwritten = a;
      JobControl control;
      const Tridiagonal form({control, 2}, n, overwritten.data());
      const Vector b = random_numbers<double>(n, 8);
      Vector rotated = b;
      form.rotate(true, 1, rotated.data());
      Vector found = times(form, rotated);
      form.rotate(false, 1, found.data());
      const Vector expected = times(a, b);
      const double scale = 1e-13 * n * n;
      for (std::size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(found[i], expected[i], scale) << n;
      Vector again = a;
      const Vector eigenvalues = symmetric_eigen(n, again.data(), false);
      const Vector of_form = form.eigenvalues();
      for (std::size_t i = 0; i < b.size(); ++i) {
        ASSERT_NEAR(of_form[i], eigenvalues[i], scale) << n;
      }
    }
  }
}

TEST(Tridiagonal, HasTheSameBytesOnAnyNumberOfThreads) {
  const int n = 500;
  const Vector a = random_symmetric(n, true);
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

TEST(Tridiagonal, CanBeStopped) {
  Vector a = random_symmetric(100, true);
  JobControl control;
  control.request_stop();
  EXPECT_THROW(Tridiagonal({control, 2}, 100, a.data()), Interrupted);
}

}  // namespace
}  // namespace ancify::reml
