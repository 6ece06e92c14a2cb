// A product of dense matrices, and the plain loop that computes it.
#pragma once

#include <cstdint>

namespace ancify {

// Matrices are row-major. c = a b, or a b' if `b_transposed`: c is rows x columns, and `depth`
// terms are summed. If `a_transposed`, it is a' b, and a is depth x rows. Strides are distances
// between rows, in elements.
template <class T>
struct ProductOf {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const T* a;
  std::int64_t a_stride;
  const T* b;
  std::int64_t b_stride;
  bool b_transposed;
  T* c;
  std::int64_t c_stride;
  bool a_transposed = false;
};

// Replaces y by y - A X', with column-major matrices: y is rows x columns, A is rows x depth, and X
// is columns x depth. Strides are distances between columns.
struct DifferenceOf {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const double* a;
  std::int64_t a_stride;
  const double* x;
  std::int64_t x_stride;
  double* y;
  std::int64_t y_stride;
};

using MatrixProduct = ProductOf<float>;

// The oracle for tests, and the product of builds without Eigen. Sums are in double.
template <class T>
void multiply_plainly(const ProductOf<T>& product) {
  for (std::int64_t i = 0; i < product.rows; ++i) {
    for (std::int64_t j = 0; j < product.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < product.depth; ++k) {
        const std::int64_t left =
            product.a_transposed ? k * product.a_stride + i : i * product.a_stride + k;
        const std::int64_t right =
            product.b_transposed ? j * product.b_stride + k : k * product.b_stride + j;
        sum += static_cast<double>(product.a[left]) * static_cast<double>(product.b[right]);
      }
      product.c[i * product.c_stride + j] = static_cast<T>(sum);
    }
  }
}

}  // namespace ancify
