// Dense linear algebra by the BLAS and LAPACK that R itself uses. Only this file names their
// functions. Matrices are column-major; the lower triangle of a symmetric one is read.
#pragma once

#include <vector>

namespace ancify::reml {

// The lower triangle of a becomes its Cholesky factor. False if `a` is not positive definite.
bool cholesky(int n, double* a);

// Solves L L' x = b in place, for `columns` right-hand sides, with the factor of cholesky().
void cholesky_solve(int n, const double* factor, int columns, double* b);

// The factor of cholesky() becomes the lower triangle of the inverse of L L'.
void cholesky_inverse(int n, double* factor);

// out = a' b, of inner x rows and inner x columns.
void cross_product(int inner, int rows, int columns, const double* a, const double* b, double* out);

// out = scale * a b + old * out, of rows x inner and inner x columns.
void product(int rows, int inner, int columns, double scale, const double* a, const double* b,
             double old, double* out);

// out = a b for a symmetric n x n matrix a, of which the lower triangle is read.
void symmetric_product(int n, int columns, const double* a, const double* b, double* out);

// out += scale * a b, for the same.
void add_symmetric_product(int n, int columns, double scale, const double* a, const double* b,
                           double* out);

// Eigenvalues of a symmetric matrix, ascending; with `vectors`, the columns of `a` become the
// eigenvectors, else it is overwritten.
std::vector<double> symmetric_eigen(int n, double* a, bool vectors);

}  // namespace ancify::reml
