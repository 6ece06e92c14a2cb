// Dense linear algebra by the BLAS and LAPACK that R itself uses: small matrices, and products with
// a user's kernels. Only this file names their functions.
// Matrices are column-major; the lower triangle of a symmetric one is read.
#pragma once

#include <vector>

namespace ancify::reml {

// Replaces the lower triangle of an n x n matrix by its Cholesky factor. Returns false if it is not
// positive definite.
bool cholesky(int n, double* a);

// Solves L L' x = b in place, for columns of length n, with the factor of cholesky().
void cholesky_solve(int n, int columns, const double* factor, double* b);

// Replaces the factor of cholesky() by the lower triangle of (L L')^-1.
void cholesky_inverse(int n, double* factor);

// out = a' b, of inner x rows and inner x columns.
void cross_product(int inner, int rows, int columns, const double* a, const double* b, double* out);

// out = scale * a b + old * out, of rows x inner and inner x columns.
void product(int rows, int inner, int columns, double scale, const double* a, const double* b,
             double old, double* out);

// out = a b for a symmetric n x n matrix a; its lower triangle is read.
void symmetric_product(int n, int columns, const double* a, const double* b, double* out);

// out += scale * a b, with a symmetric as above.
void add_symmetric_product(int n, int columns, double scale, const double* a, const double* b,
                           double* out);

// The QR decomposition of a rows x columns matrix by Householder reflections I - tau v v'.
struct Qr {
  Qr(int rows, int columns, std::vector<double> x);
  // c = Q'c or c = Q c, for columns of length `rows`.
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

// The eigenvectors of a tridiagonal symmetric matrix, in columns. `diagonal` becomes the
// eigenvalues, ascending.
std::vector<double> tridiagonal_eigenvectors(std::vector<double>& diagonal,
                                             std::vector<double> off_diagonal);

// A reflection I - tau v v' that maps x, of length n, to a multiple of the first unit vector.
// Overwrites x by this multiple and v, without its first element, 1. Returns tau.
double reflection(int n, double* x);

// c = Q'c or c = Q c, for columns of length n. The vectors v of Q's reflections lie below the
// subdiagonal of `a`, n x n, without their leading 1. `a` is modified temporarily.
void rotate_by_reflections(int n, double* a, const double* tau, bool transposed, int columns,
                           double* c);

// Eigenvalues of a symmetric matrix, ascending. With `vectors`, the columns of `a` become the
// eigenvectors; otherwise `a` is destroyed.
std::vector<double> symmetric_eigen(int n, double* a, bool vectors);

}  // namespace ancify::reml
