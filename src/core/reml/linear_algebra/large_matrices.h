// Cholesky factor, inverse and product of large matrices, by tiles on all threads. Matrices are
// column-major. Bytes do not depend on the number of threads. Interrupted within a second of a stop
// request.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// A square part of a matrix: `stride` is the distance between columns.
struct Square {
  std::int64_t n;
  double* data;
  std::int64_t stride;
};

// Replaces the lower triangle by the Cholesky factor. Returns false if the matrix is not positive
// definite.
bool factorise(const Workers& workers, const Square& matrix);

// Replaces a factor L by (L L')^-1, with both triangles. Needs an n x n workspace.
void invert(const Workers& workers, const Square& matrix);

// Solves L L' x = b in place, for an n x n factor and columns of length n.
void solve(const Workers& workers, std::int64_t n, const std::vector<double>& factor,
           std::vector<double>& columns);

// out = a b, for a symmetric n x n matrix a with both triangles, and an n x columns matrix b.
void symmetric_times(const Workers& workers, std::int64_t n, const double* a, std::int64_t columns,
                     const double* b, double* out);

// a -= left right', with a n x n, and left and right n x rank.
void subtract_product(const Workers& workers, std::int64_t n, std::int64_t rank,
                      const std::vector<double>& left, const std::vector<double>& right, double* a);

// a b for n x n matrices; `a` is symmetric, with both triangles.
std::vector<double> multiply_symmetric(const Workers& workers, std::int64_t n,
                                       const std::vector<double>& a, const std::vector<double>& b);

}  // namespace ancify::reml
