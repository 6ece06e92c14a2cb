// Gram matrices of points, and systems of equations with symmetric matrices.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::chromatin {

// Distances, a symmetric n x n matrix, become the Gram matrix of their points around the centre:
// -J D^2 J / 2 with J = I - 11'/n.
void distances_to_gram(std::size_t n, std::vector<double>& distances);

// The factor L of a positive definite n x n matrix LL' (Cholesky).
class CholeskyFactor {
 public:
  CholeskyFactor(std::size_t n, std::vector<double> matrix);
  // `column` becomes the product of the matrix's inverse with it.
  void solve(std::vector<double>& column) const;

 private:
  std::size_t n_;
  std::vector<double> factor_;  // the lower triangle, by rows
};

}  // namespace ancify::chromatin
