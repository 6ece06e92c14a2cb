// Eigenvalues of small symmetric matrices, and the three leading ones of large ones.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ancify::chromatin {

// Eigenvalues from the largest to the smallest, and their vectors of length n one after the other.
struct Eigenpairs {
  std::vector<double> values;
  std::vector<double> vectors;
};

// All eigenpairs of a symmetric n x n matrix with few rows.
Eigenpairs small_eigenpairs(std::size_t n, std::vector<double> matrix);

// The three algebraically largest eigenvalues of a symmetric n x n matrix, n >= 3.
Eigenpairs leading_eigenpairs(std::size_t n, const std::vector<double>& matrix);

}  // namespace ancify::chromatin
