// Dense matrices by Eigen, and the table of a level's functions. Each level's file includes this
// one, and is compiled with that level's flags. Everything is in an unnamed namespace: a function
// with one name in all levels would be linked once, perhaps with instructions that the processor
// lacks.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef ANCIFY_HAVE_EIGEN
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>
#endif

#include "core/matrices/columns_code.h"
#include "core/matrices/level.h"

namespace ancify {

namespace {

#ifdef ANCIFY_HAVE_EIGEN
template <class T>
using RowsOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstView = Eigen::Map<const RowsOf<T>, 0, Eigen::OuterStride<>>;
template <class T>
using View = Eigen::Map<RowsOf<T>, 0, Eigen::OuterStride<>>;

#ifdef EIGEN_VECTORIZE_AVX512
// Eigen 3.3 computes columns that do not fill an AVX-512 register element by element. So the last
// columns, or all if there are few, are padded with zeros.
template <class T, class A, class B>
void multiply(const A& a, const B& b, View<T>& c) {
  constexpr std::int64_t lanes = 64 / sizeof(T);
  constexpr std::int64_t few = 4 * lanes;
  const std::int64_t n = c.cols();
  const std::int64_t filled = n % lanes == 0 ? n : n < few ? 0 : n - n % lanes;
  if (filled > 0) c.leftCols(filled).noalias() = a * b.leftCols(filled);
  const std::int64_t last = n - filled;
  if (last == 0) return;
  RowsOf<T> wide = RowsOf<T>::Zero(b.rows(), (last + lanes - 1) / lanes * lanes);
  wide.leftCols(last) = b.rightCols(last);
  RowsOf<T> product(a.rows(), wide.cols());
  product.noalias() = a * wide;
  c.rightCols(last) = product.leftCols(last);
}
#else
template <class T, class A, class B>
void multiply(const A& a, const B& b, View<T>& c) {
  c.noalias() = a * b;
}
#endif

template <class T, class A>
void multiply_by(const A& a, const ProductOf<T>& p) {
  View<T> c(p.c, p.rows, p.columns, Eigen::OuterStride<>(p.c_stride));
  const Eigen::OuterStride<> stride(p.b_stride);
  if (p.b_transposed) {
    const ConstView<T> b(p.b, p.columns, p.depth, stride);
    multiply<T>(a, b.transpose(), c);
  } else {
    multiply<T>(a, ConstView<T>(p.b, p.depth, p.columns, stride), c);
  }
}

template <class T>
void multiply(const ProductOf<T>& p) {
  const Eigen::OuterStride<> stride(p.a_stride);
  if (p.a_transposed) {
    multiply_by(ConstView<T>(p.a, p.depth, p.rows, stride).transpose(), p);
  } else {
    multiply_by(ConstView<T>(p.a, p.rows, p.depth, stride), p);
  }
}

// The lower triangle by columns is the upper triangle by rows. Matrices are copied to Eigen's own
// alignment, as its sums depend on it.
bool factorise(std::int64_t n, double* a, std::int64_t stride) {
  View<double> rows(a, n, n, Eigen::OuterStride<>(stride));
  const Eigen::LLT<RowsOf<double>, Eigen::Upper> factor(rows);
  rows.triangularView<Eigen::Upper>() = factor.matrixLLT();
  // Eigen accepts NaN pivots.
  return factor.info() == Eigen::Success && rows(n - 1, n - 1) > 0;
}

void invert_factor(std::int64_t n, const double* factor, std::int64_t stride, double* inverse,
                   std::int64_t inverse_stride) {
  const RowsOf<double> rows = ConstView<double>(factor, n, n, Eigen::OuterStride<>(stride));
  RowsOf<double> out = RowsOf<double>::Identity(n, n);
  rows.triangularView<Eigen::Upper>().solveInPlace(out);
  View<double>(inverse, n, n, Eigen::OuterStride<>(inverse_stride)) = out;
}
#else
template <class T>
void multiply(const ProductOf<T>& product) {
  multiply_plainly(product);
}

bool factorise(std::int64_t n, double* a, std::int64_t stride) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = a + j * stride;
    for (std::int64_t k = 0; k < j; ++k) {
      const double* const before = a + k * stride;
      for (std::int64_t i = j; i < n; ++i) column[i] -= before[i] * before[j];
    }
    if (!(column[j] > 0)) return false;
    const double root = std::sqrt(column[j]);
    for (std::int64_t i = j; i < n; ++i) column[i] /= root;
  }
  return true;
}

void invert_factor(std::int64_t n, const double* factor, std::int64_t stride, double* inverse,
                   std::int64_t inverse_stride) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = inverse + j * inverse_stride;
    for (std::int64_t i = 0; i < n; ++i) column[i] = i == j ? 1 : 0;
    for (std::int64_t k = j; k < n; ++k) {
      column[k] /= factor[k * stride + k];
      for (std::int64_t i = k + 1; i < n; ++i) column[i] -= factor[k * stride + i] * column[k];
    }
  }
}
#endif

constexpr MatrixFunctions kFunctions = {multiply<float>,      multiply<double>, factorise,
                                        invert_factor,        column_dots,      subtract_columns,
                                        add_symmetric_columns};

}  // namespace

}  // namespace ancify
