// The Cholesky factor (Golub and Van Loan, Matrix Computations, 4.2).
#include "core/numerics/cholesky.h"

#include <cmath>
#include <utility>

namespace ancify {

CholeskyFactor::CholeskyFactor(std::size_t n, std::vector<double> matrix)
    : n_(n), factor_(std::move(matrix)) {
  for (std::size_t j = 0; j < n_; ++j) {
    for (std::size_t i = j; i < n_; ++i) {
      double value = factor_[i * n_ + j];
      for (std::size_t k = 0; k < j; ++k) value -= factor_[i * n_ + k] * factor_[j * n_ + k];
      factor_[i * n_ + j] = i == j ? std::sqrt(value) : value / factor_[j * n_ + j];
    }
  }
}

void CholeskyFactor::solve(std::vector<double>& column) const {
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = 0; k < i; ++k) column[i] -= factor_[i * n_ + k] * column[k];
    column[i] /= factor_[i * n_ + i];
  }
  for (std::size_t i = n_; i-- > 0;) {
    column[i] /= factor_[i * n_ + i];
    for (std::size_t k = 0; k < i; ++k) column[k] -= factor_[i * n_ + k] * column[i];
  }
}

double CholeskyFactor::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < n_; ++i) sum += 2 * std::log(factor_[i * n_ + i]);
  return sum;
}

}  // namespace ancify
