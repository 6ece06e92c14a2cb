// Eigenvalues of small symmetric matrices, and the three leading ones of large ones.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ancify {

// Eigenvalues in decreasing order, and their consecutive vectors of length n.
struct Eigenpairs {
  std::vector<double> values;
  std::vector<double> vectors;
};

// All eigenpairs of a symmetric n x n matrix with few rows.
Eigenpairs symmetric_eigenpairs(std::size_t n, std::vector<double> matrix);

// The three algebraically largest eigenvalues of a symmetric n x n matrix, n >= 3.
Eigenpairs leading_eigenpairs(std::size_t n, const std::vector<double>& matrix);

}  // namespace ancify
