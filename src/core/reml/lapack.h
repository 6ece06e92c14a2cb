// Dense linear algebra by the BLAS and LAPACK that R itself uses: small matrices, and products with
// a user's kernels. Only this file names their functions.
// Matrices are column-major; the lower triangle of a symmetric one is read.
#pragma once

#include <vector>

namespace ancify::reml {

// The lower triangle of an n x n matrix becomes its Cholesky factor. False if it is not positive
// definite.
bool cholesky(int n, double* a);

// Solves L L' x = b in place, for columns of length n, with the factor of cholesky().
void cholesky_solve(int n, int columns, const double* factor, double* b);

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

// The QR decomposition of a rows x columns matrix by Householder reflections I - tau v v'.
struct Qr {
  Qr(int rows, int columns, std::vector<double> x);
  // c = Q'c or c = Q c, for columns of `rows` numbers.
  void rotate(bool transposed, int columns_of_c, double* c) const;
  // The reflections together are Q = I - V F V'. V is rows x columns, F columns x columns.
  std::vector<double> reflectors() const;
  std::vector<double> triangle() const;
  // Solves R x = b in place.
  void solve(double* b) const;

  int rows;
  int columns;
  std::vector<double> packed;  // R in the upper triangle, V below
  std::vector<double> tau;
};

// The eigenvalues of a tridiagonal symmetric matrix, ascending.
std::vector<double> tridiagonal_eigenvalues(std::vector<double> diagonal,
                                            std::vector<double> off_diagonal);

// A reflection I - tau v v' that makes x, of n numbers, a multiple of the first unit vector. x
// becomes this multiple and v, whose first number, 1, is not kept. Gives tau.
double reflection(int n, double* x);

// c = Q'c or c = Q c, for columns of n numbers. The vectors v of Q's reflections are below the
// diagonal's neighbours of `a`, n x n, without their 1. `a` is changed meanwhile.
void rotate_by_reflections(int n, double* a, const double* tau, bool transposed, int columns,
                           double* c);

// Eigenvalues of a symmetric matrix, ascending; with `vectors`, the columns of `a` become the
// eigenvectors, else it is overwritten.
std::vector<double> symmetric_eigen(int n, double* a, bool vectors);

}  // namespace ancify::reml
