// How far numbers are from those expected.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace ancify::test {

// Of the size of all numbers
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
