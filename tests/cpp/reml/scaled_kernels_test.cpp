// D K D beside the product of dense matrices.
#include "core/reml/kernels/scaled_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/reml/kernels/matrix_kernels.h"

namespace {

using namespace ancify::reml;
using Vector = std::vector<double>;

constexpr std::size_t kN = 5;

Vector kernel(double shift) {
  Vector k(kN * kN);
  for (std::size_t i = 0; i < kN * kN; ++i) {
    k[i] = std::cos(shift + static_cast<double>(i % kN * (i / kN) + i % kN + i / kN));
  }
  for (std::size_t i = 0; i < kN; ++i) k[i * (kN + 1)] += 3 + static_cast<double>(i);
  return k;
}

// `diagonal`: even or own.
void compare(ScaledDiagonal diagonal) {
  ancify::JobControl control;
  const std::vector<Vector> kernels = {kernel(0), kernel(1)};
  const Vector scales = {0.5, 2, 1, 0.1, 3};
  ScaledKernels scaled(
      std::make_unique<MatrixKernels>(
          kN, std::vector<const double*>{kernels[0].data(), kernels[1].data()}, control),
      scales, diagonal);
  const Vector theta = {0.7, 1.3};
  Vector sum(kN * kN);
  std::vector<Vector> expected = kernels;
  for (std::size_t g = 0; g < 2; ++g) {
    double trace = 0;
    for (std::size_t i = 0; i < kN * kN; ++i) expected[g][i] *= scales[i % kN] * scales[i / kN];
    for (std::size_t i = 0; i < kN; ++i) trace += expected[g][i * (kN + 1)];
    for (std::size_t i = 0; i < kN && diagonal == ScaledDiagonal::kEven; ++i) {
      expected[g][i * (kN + 1)] = trace / kN;
    }
    for (std::size_t i = 0; i < kN * kN; ++i) sum[i] += theta[g] * expected[g][i];
    const int component = static_cast<int>(g);
    EXPECT_NEAR(scaled.mean_diagonal(component), trace / kN, 1e-12);
    Vector dense(kN * kN);
    scaled.dense(component, dense.data());
    const Vector own = scaled.diagonal(component);
    for (std::size_t i = 0; i < kN * kN; ++i) EXPECT_NEAR(dense[i], expected[g][i], 1e-12);
    for (std::size_t i = 0; i < kN; ++i) EXPECT_NEAR(own[i], expected[g][i * (kN + 1)], 1e-12);
  }
  const Vector v = {1, -2, 0.5, 3, 1, 0, 1, 0, -1, 2};
  Vector product(v.size());
  scaled.times(theta.data(), v.data(), 2, Precision::kFull, product.data());
  Vector forms(4);
  scaled.quadratic_forms(v.data(), v.data(), 2, Precision::kFull, forms.data());
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < kN; ++i) {
      double value = 0;
      for (std::size_t j = 0; j < kN; ++j) value += sum[j * kN + i] * v[c * kN + j];
      EXPECT_NEAR(product[c * kN + i], value, 1e-12);
    }
    for (std::size_t g = 0; g < 2; ++g) {
      double form = 0;
      for (std::size_t k = 0; k < kN * kN; ++k) {
        form += expected[g][k] * v[c * kN + k % kN] * v[c * kN + k / kN];
      }
      EXPECT_NEAR(forms[g * 2 + c], form, 1e-11);
    }
  }
}

TEST(ScaledKernels, HaveTheirOwnDiagonal) { compare(ScaledDiagonal::kOwn); }
TEST(ScaledKernels, HaveAnEvenDiagonal) { compare(ScaledDiagonal::kEven); }

TEST(ScaledKernels, NeedAScaleForEachSample) {
  ancify::JobControl control;
  const Vector k = kernel(0);
  for (const std::size_t n : {kN - 1, 2 * kN}) {
    auto kernels =
        std::make_unique<MatrixKernels>(kN, std::vector<const double*>{k.data()}, control);
    EXPECT_THROW(ScaledKernels(std::move(kernels), Vector(n, 1), ScaledDiagonal::kOwn),
                 ancify::InputError);
  }
}

// A kernel that knows only products.
TEST(Kernels, GiveTheDiagonalByProducts) {
  ancify::JobControl control;
  const Vector k = kernel(0);
  ProductKernel products(
      kN,
      [&](const double* v, int columns, double* out) {
        for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
          for (std::size_t i = 0; i < kN; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < kN; ++j) sum += k[j * kN + i] * v[c * kN + j];
            out[c * kN + i] = sum;
          }
        }
      },
      1, control);
  const Vector diagonal = products.diagonal(0);
  for (std::size_t i = 0; i < kN; ++i) EXPECT_DOUBLE_EQ(diagonal[i], k[i * (kN + 1)]);
}

}  // namespace
