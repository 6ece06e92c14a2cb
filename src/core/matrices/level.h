// Dense matrices on one thread, for each level of vector instructions.
#pragma once

#include <cstdint>

#include "core/device/simd.h"
#include "core/matrices/product.h"

namespace ancify {

// What is written once, and compiled for each level.
struct MatrixFunctions {
  void (*multiply_floats)(const ProductOf<float>& product);
  void (*multiply_doubles)(const ProductOf<double>& product);
  // The lower triangle of the n x n matrix `a`, a column after the other, becomes its Cholesky
  // factor. False if it is not positive definite. `stride` is from a column to the next.
  bool (*factorise)(std::int64_t n, double* a, std::int64_t stride);
  // inverse = L^-1 for such a factor L, with zeros above its diagonal.
  void (*invert_factor)(std::int64_t n, const double* factor, std::int64_t stride, double* inverse,
                        std::int64_t inverse_stride);
  // sums[c] = a_c'x, of columns of n numbers, `stride` from one to the next.
  void (*column_dots)(std::int64_t n, std::int64_t columns, const double* a, std::int64_t stride,
                      const double* x, double* sums);
  // y -= A X'.
  void (*subtract_columns)(const DifferenceOf& difference);
  // y += what the first columns of a symmetric n x n matrix, and the rows that mirror them, add to
  // its product with x. The lower triangle is read.
  void (*add_symmetric_columns)(std::int64_t n, std::int64_t columns, const double* a,
                                std::int64_t stride, const double* x, double* y);
};

// The functions for a level, or for the best one below it that the compiler made. Levels differ in
// how sums are rounded.
const MatrixFunctions& matrix_functions_of(SimdLevel level);

// Those of builds for AVX2 and FMA, and for AVX-512; null where the compiler makes none.
const MatrixFunctions* matrix_functions_for_avx2();
const MatrixFunctions* matrix_functions_for_avx512();

// The library that multiplies, for messages.
const char* multiplier_name();

}  // namespace ancify
