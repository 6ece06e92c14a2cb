// Calls the Fortran functions of BLAS and LAPACK. R's headers declare them too, but the core knows
// no R.
#include "core/reml/lapack.h"

#include <algorithm>
#include <cstddef>

#include "core/exec/errors.h"

// A Fortran compiler passes the length of each character argument at the end.
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
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t,
             std::size_t);
}

namespace ancify::reml {

namespace {
constexpr double kOne = 1;
constexpr double kZero = 0;
}  // namespace

bool cholesky(int n, double* a) {
  int info = 0;
  dpotrf_("L", &n, a, &n, &info, 1);
  return info == 0;
}

void cholesky_solve(int n, const double* factor, int columns, double* b) {
  int info = 0;
  dpotrs_("L", &n, &columns, factor, &n, b, &n, &info, 1);
}

void cholesky_inverse(int n, double* factor) {
  int info = 0;
  dpotri_("L", &n, factor, &n, &info, 1);
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
