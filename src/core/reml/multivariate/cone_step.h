// The step of a search over covariance matrices, which stay positive semidefinite.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::reml {

// Packed coordinates of a symmetric matrix whose eigenvalues must be at least `floor`.
struct CovarianceBlock {
  std::size_t first;  // index of its first coordinate
  std::size_t size;   // of the matrix
  double floor;
};

// The local model l(at + d), about l(at) + s'd - d'Id / 2. Coordinates outside the blocks are free,
// unless fixed.
struct ConeModel {
  std::vector<double> at;
  std::vector<CovarianceBlock> blocks;
  std::vector<char> fixed;
  std::vector<double> score;        // s
  std::vector<double> information;  // I, positive semidefinite
};

// The step d that maximises s'd - d'Id / 2 such that the blocks at `at` + d keep their floors.
std::vector<double> cone_step(const ConeModel& model);

// d'Id.
double squared_length(const ConeModel& model, const std::vector<double>& d);

}  // namespace ancify::reml
