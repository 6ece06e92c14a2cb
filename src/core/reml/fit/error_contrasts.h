// The orthogonal complement of the fixed effects' columns X, on which the restricted likelihood is
// free of them.
#pragma once

#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// X = Q1 R; Q2 is a basis of the complement, and Q = (Q1, Q2). Rotated columns have p coordinates
// on X first, then n - p on its complement.
class ErrorContrasts {
 public:
  // InputError if a column of X depends on earlier columns.
  explicit ErrorContrasts(const FitData& data);

  int samples() const { return qr_.rows; }
  int effects() const { return qr_.columns; }
  int size() const { return qr_.rows - qr_.columns; }

  // Q'v.
  std::vector<double> rotate(std::vector<double> v) const;
  // Q v.
  std::vector<double> rotate_back(std::vector<double> v) const;
  // K becomes Q'KQ, n x n, both triangles.
  void rotate_kernel(const Workers& workers, double* k) const {
    rotate_both_sides(workers, qr_.triangle(), k);
  }
  // The reverse: QKQ'.
  void rotate_kernel_back(const Workers& workers, double* k) const;
  // R^-1 b.
  std::vector<double> solve(std::vector<double> b) const;
  // R^-1 a R'^-1 of a symmetric p x p matrix.
  std::vector<double> solve_both_sides(std::vector<double> a) const;

 private:
  // (I - VFV')' K (I - VFV').
  void rotate_both_sides(const Workers& workers, const std::vector<double>& f, double* k) const;

  Qr qr_;
};

}  // namespace ancify::reml
