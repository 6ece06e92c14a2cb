// Cholesky factor, inverse and product of large matrices, by tiles on all threads. Matrices have a
// column after the other. Bytes do not depend on the number of threads. Interrupted within a second
// of a stop request.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/tall_blocks.h"

namespace ancify::reml {

// A square part of a matrix: `stride` is from a column to the next.
struct Square {
  std::int64_t n;
  double* data;
  std::int64_t stride;
};

// The lower triangle becomes the Cholesky factor. False if the matrix is not positive definite.
bool factorise(const Workers& workers, const Square& matrix);

// A factor L becomes (L L')^-1, with both triangles. Takes n x n numbers more.
void invert(const Workers& workers, const Square& matrix);

// Solves L L' x = b in place, for an n x n factor and columns of n numbers.
void solve(const Workers& workers, std::int64_t n, const std::vector<double>& factor,
           std::vector<double>& columns);

// out = a b, of a symmetric n x n matrix with both triangles, and n x columns numbers.
void symmetric_times(const Workers& workers, std::int64_t n, const double* a, std::int64_t columns,
                     const double* b, double* out);

// a -= left right', of n x n and n x rank.
void subtract_product(const Workers& workers, std::int64_t n, std::int64_t rank,
                      const std::vector<double>& left, const std::vector<double>& right, double* a);

// a b of n x n matrices. `a` is symmetric, and has both triangles.
std::vector<double> multiply_symmetric(const Workers& workers, std::int64_t n,
                                       const std::vector<double>& a, const std::vector<double>& b);

}  // namespace ancify::reml
