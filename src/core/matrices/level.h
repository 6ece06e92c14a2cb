// Dense matrices on one thread, for each level of vector instructions.
#pragma once

#include <cstdint>

#include "core/device/simd.h"
#include "core/matrices/product.h"

namespace ancify {

// Functions that are written once, and compiled for each level.
struct MatrixFunctions {
  void (*multiply_floats)(const ProductOf<float>& product);
  void (*multiply_doubles)(const ProductOf<double>& product);
  // Replaces the lower triangle of the column-major n x n matrix `a` by its Cholesky factor.
  // Returns false if it is not positive definite. `stride` is the distance between columns.
  bool (*factorise)(std::int64_t n, double* a, std::int64_t stride);
  // inverse = L^-1 for such a factor L, with zeros above its diagonal.
  void (*invert_factor)(std::int64_t n, const double* factor, std::int64_t stride, double* inverse,
                        std::int64_t inverse_stride);
  // sums[c] = a_c'x, for columns of length n that are `stride` apart.
  void (*column_dots)(std::int64_t n, std::int64_t columns, const double* a, std::int64_t stride,
                      const double* x, double* sums);
  // y -= A X'.
  void (*subtract_columns)(const DifferenceOf& difference);
  // Adds to y the contribution of a symmetric n x n matrix's first columns, and of their mirrored
  // rows, to its product with x. The lower triangle is read.
  void (*add_symmetric_columns)(std::int64_t n, std::int64_t columns, const double* a,
                                std::int64_t stride, const double* x, double* y);
};

// The functions for a level, or for the best lower level in the build. Levels differ in the
// rounding of sums.
const MatrixFunctions& matrix_functions_of(SimdLevel level);

// The functions for AVX2 and FMA, and for AVX-512; null if the build lacks them.
const MatrixFunctions* matrix_functions_for_avx2();
const MatrixFunctions* matrix_functions_for_avx512();

}  // namespace ancify
