// Covariances of t traits, packed by column: the lower triangle of a symmetric t x t matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::reml {

struct TraitPair {
  std::size_t row;
  std::size_t column;
  bool same() const { return row == column; }
};

// The pairs in their packed order: (0, 0), (1, 0), ..., (t - 1, t - 1).
inline std::vector<TraitPair> trait_pairs(std::size_t t) {
  std::vector<TraitPair> pairs;
  for (std::size_t column = 0; column < t; ++column) {
    for (std::size_t row = column; row < t; ++row) pairs.push_back({row, column});
  }
  return pairs;
}

inline std::size_t number_of_pairs(std::size_t t) { return t * (t + 1) / 2; }

// The whole matrix of packed covariances.
inline std::vector<double> unpacked(std::size_t t, const double* packed) {
  std::vector<double> whole(t * t);
  for (const auto& [row, column] : trait_pairs(t)) {
    whole[row * t + column] = whole[column * t + row] = *packed++;
  }
  return whole;
}

inline std::vector<double> packed(std::size_t t, const std::vector<double>& whole) {
  std::vector<double> result;
  for (const auto& [row, column] : trait_pairs(t)) result.push_back(whole[column * t + row]);
  return result;
}

}  // namespace ancify::reml
