// Solutions of symmetric positive definite linear systems.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify {

// The factor L of a positive definite n x n matrix LL' (Cholesky).
class CholeskyFactor {
 public:
  CholeskyFactor(std::size_t n, std::vector<double> matrix);
  // Replaces `column` by the solution x of LL'x = column.
  void solve(std::vector<double>& column) const;
  // NaN or -infinity if the matrix is not positive definite.
  double log_determinant() const;

 private:
  std::size_t n_;
  std::vector<double> factor_;  // the lower triangle, by rows
};

}  // namespace ancify
