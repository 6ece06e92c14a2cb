// A symmetric matrix as Q T Q' with a tridiagonal T, on up to eight threads. Bytes do not depend on
// the number of threads. Interrupted within a second of a stop request.
#pragma once

#include <vector>

#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

class Tridiagonal {
 public:
  // Reduces an n x n matrix, reading its lower triangle. Overwrites `a`, which must outlive this.
  Tridiagonal(const Workers& workers, int n, double* a);
  const std::vector<double>& diagonal() const { return diagonal_; }
  const std::vector<double>& off_diagonal() const { return off_diagonal_; }
  // c = Q'c or c = Q c, for columns of length n.
  void rotate(bool transposed, int columns, double* c) const {
    rotate_by_reflections(n_, a_, tau_.data(), transposed, columns, c);
  }
  std::vector<double> eigenvalues() const {
    return tridiagonal_eigenvalues(diagonal_, off_diagonal_);
  }

 private:
  int n_;
  double* a_;
  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_;
  std::vector<double> tau_;
};

}  // namespace ancify::reml
