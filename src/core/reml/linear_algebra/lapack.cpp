// Calls the Fortran functions of BLAS and LAPACK. R's headers declare them too, but the core does
// not depend on R.
#include "core/reml/linear_algebra/lapack.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"

// Fortran compilers append the length of each character argument.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
             double* b, const int* ldb, int* info, std::size_t);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc, std::size_t, std::size_t);
void dsymm_(const char* side, const char* uplo, const int* m, const int* n, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta,
            double* c, const int* ldc, std::size_t, std::size_t);
void dtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b,
            const int* ldb, std::size_t, std::size_t, std::size_t, std::size_t);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dormqr_(const char* side, const char* trans, const int* m, const int* n, const int* k,
             const double* a, const int* lda, const double* tau, double* c, const int* ldc,
             double* work, const int* lwork, int* info, std::size_t, std::size_t);
void dorm2r_(const char* side, const char* trans, const int* m, const int* n, const int* k,
             const double* a, const int* lda, const double* tau, double* c, const int* ldc,
             double* work, int* info, std::size_t, std::size_t);
void dlarft_(const char* direct, const char* storev, const int* n, const int* k, const double* v,
             const int* ldv, const double* tau, double* t, const int* ldt, std::size_t,
             std::size_t);
void dlarfg_(const int* n, double* alpha, double* x, const int* incx, double* tau);
void dormtr_(const char* side, const char* uplo, const char* trans, const int* m, const int* n,
             const double* a, const int* lda, const double* tau, double* c, const int* ldc,
             double* work, const int* lwork, int* info, std::size_t, std::size_t, std::size_t);
void dsterf_(const int* n, double* d, double* e, int* info);
void dstedc_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t,
             std::size_t);
}

namespace ancify::reml {

namespace {
constexpr double kOne = 1;
constexpr double kZero = 0;

std::size_t product_of(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}
}  // namespace

void cholesky_inverse(int n, double* factor) {
  int info = 0;
  dpotri_("L", &n, factor, &n, &info, 1);
}

bool cholesky(int n, double* a) {
  int info = 0;
  dpotrf_("L", &n, a, &n, &info, 1);
  return info == 0;
}

void cholesky_solve(int n, int columns, const double* factor, double* b) {
  int info = 0;
  dpotrs_("L", &n, &columns, factor, &n, b, &n, &info, 1);
}

void cross_product(int inner, int rows, int columns, const double* a, const double* b,
                   double* out) {
  const int lda = std::max(inner, 1);
  const int ldc = std::max(rows, 1);
  dgemm_("T", "N", &rows, &columns, &inner, &kOne, a, &lda, b, &lda, &kZero, out, &ldc, 1, 1);
}

void product(int rows, int inner, int columns, double scale, const double* a, const double* b,
             double old, double* out) {
  const int lda = std::max(rows, 1);
  const int ldb = std::max(inner, 1);
  dgemm_("N", "N", &rows, &columns, &inner, &scale, a, &lda, b, &ldb, &old, out, &lda, 1, 1);
}

void symmetric_product(int n, int columns, const double* a, const double* b, double* out) {
  dsymm_("L", "L", &n, &columns, &kOne, a, &n, b, &n, &kZero, out, &n, 1, 1);
}

void add_symmetric_product(int n, int columns, double scale, const double* a, const double* b,
                           double* out) {
  dsymm_("L", "L", &n, &columns, &scale, a, &n, b, &n, &kOne, out, &n, 1, 1);
}

Qr::Qr(int rows, int columns, std::vector<double> x)
    : rows(rows), columns(columns), packed(std::move(x)), tau(static_cast<std::size_t>(columns)) {
  if (columns == 0) return;
  int info = 0;
  const int size = 32 * columns;
  std::vector<double> work(static_cast<std::size_t>(size));
  dgeqrf_(&rows, &columns, packed.data(), &rows, tau.data(), work.data(), &size, &info);
}

void Qr::rotate(bool transposed, int columns_of_c, double* c) const {
  if (columns == 0) return;
  int info = 0;
  const int size = 32 * std::max(columns_of_c, 1) + 65 * 64;  // the size at which dormqr is fastest
  std::vector<double> work(static_cast<std::size_t>(size));
  dormqr_("L", transposed ? "T" : "N", &rows, &columns_of_c, &columns, packed.data(), &rows,
          tau.data(), c, &rows, work.data(), &size, &info, 1, 1);
}

std::vector<double> Qr::reflectors() const {
  std::vector<double> v = packed;
  for (int j = 0; j < columns; ++j) {
    double* const column = v.data() + product_of(rows, j);
    std::fill(column, column + j, 0.0);
    column[j] = 1;
  }
  return v;
}

std::vector<double> Qr::triangle() const {
  std::vector<double> t(product_of(columns, columns));
  if (columns == 0) return t;
  dlarft_("F", "C", &rows, &columns, packed.data(), &rows, tau.data(), t.data(), &columns, 1, 1);
  return t;
}

void Qr::solve(double* b) const {
  constexpr int one = 1;
  if (columns == 0) return;
  dtrsm_("L", "U", "N", "N", &columns, &one, &kOne, packed.data(), &rows, b, &columns, 1, 1, 1, 1);
}

double reflection(int n, double* x) {
  constexpr int one = 1;
  double tau = 0;
  dlarfg_(&n, x, x + 1, &one, &tau);
  return tau;
}

// Applies one reflection at a time to few columns: blocking the reflections costs as much as 32
// columns.
void rotate_by_reflections(int n, double* a, const double* tau, bool transposed, int columns,
                           double* c) {
  constexpr int few_columns = 16;
  const char* const which = transposed ? "T" : "N";
  int info = 0;
  if (columns < few_columns) {
    const int reflections = n - 1;
    std::vector<double> work(static_cast<std::size_t>(std::max(columns, 1)));
    dorm2r_("L", which, &reflections, &columns, &reflections, a + 1, &n, tau, c + 1, &n,
            work.data(), &info, 1, 1);
    return;
  }
  const int size = 32 * columns + 65 * 64;
  std::vector<double> work(static_cast<std::size_t>(size));
  dormtr_("L", "L", which, &n, &columns, a, &n, tau, c, &n, work.data(), &size, &info, 1, 1, 1);
}

std::vector<double> tridiagonal_eigenvalues(std::vector<double> diagonal,
                                            std::vector<double> off_diagonal) {
  const auto n = static_cast<int>(diagonal.size());
  int info = 0;
  dsterf_(&n, diagonal.data(), off_diagonal.data(), &info);
  if (info != 0) throw InputError("the eigenvalues of a kernel did not converge");
  return diagonal;
}

std::vector<double> tridiagonal_eigenvectors(std::vector<double>& diagonal,
                                             std::vector<double> off_diagonal) {
  const auto n = static_cast<int>(diagonal.size());
  std::vector<double> vectors(product_of(n, n));
  double wanted = 0;
  int wanted_whole = 0;
  int query = -1;
  int info = 0;
  dstedc_("I", &n, diagonal.data(), off_diagonal.data(), vectors.data(), &n, &wanted, &query,
          &wanted_whole, &query, &info, 1);
  std::vector<double> work(static_cast<std::size_t>(wanted));
  std::vector<int> whole(static_cast<std::size_t>(wanted_whole));
  const int size = static_cast<int>(work.size());
  dstedc_("I", &n, diagonal.data(), off_diagonal.data(), vectors.data(), &n, work.data(), &size,
          whole.data(), &wanted_whole, &info, 1);
  if (info != 0) throw InputError("the eigenvectors of a kernel did not converge");
  return vectors;
}

std::vector<double> symmetric_eigen(int n, double* a, bool vectors) {
  std::vector<double> values(static_cast<std::size_t>(n));
  const char* const job = vectors ? "V" : "N";
  double wanted = 0;
  int wanted_whole = 0;
  int query = -1;
  int info = 0;
  dsyevd_(job, "L", &n, a, &n, values.data(), &wanted, &query, &wanted_whole, &query, &info, 1, 1);
  std::vector<double> work(static_cast<std::size_t>(wanted));
  std::vector<int> whole(static_cast<std::size_t>(wanted_whole));
  const int size = static_cast<int>(work.size());
  dsyevd_(job, "L", &n, a, &n, values.data(), work.data(), &size, whole.data(), &wanted_whole,
          &info, 1, 1);
  if (info != 0) throw InputError("the eigenvalues of a matrix did not converge");
  return values;
}

}  // namespace ancify::reml
