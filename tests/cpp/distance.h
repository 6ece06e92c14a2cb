// The distance of computed values from expected ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace ancify::test {

// The Euclidean distance, relative to the norm of the expected values.
inline double relative_distance(const float* found, const std::vector<float>& expected) {
  double distance = 0;
  double size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    distance += std::pow(double{found[i]} - double{expected[i]}, 2);
    size += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(distance / size);
}

}  // namespace ancify::test
