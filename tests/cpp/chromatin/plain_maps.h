// Slow, plain counterparts of the core's computations with distance maps.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace ancify::chromatin {

// Points x 3, the point first.
inline std::vector<double> random_points(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> points(3 * n);
  for (double& value : points) value = normal(random);
  return points;
}

inline double plain_distance(const std::vector<double>& points, std::size_t i, std::size_t j) {
  const std::size_t n = points.size() / 3;
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += std::pow(points[k * n + i] - points[k * n + j], 2);
  return std::sqrt(sum);
}

// The upper triangle of the distances, in the order of R.
inline std::vector<double> plain_map(const std::vector<double>& points) {
  std::vector<double> map;
  for (std::size_t j = 1; j < points.size() / 3; ++j) {
    for (std::size_t i = 0; i < j; ++i) map.push_back(plain_distance(points, i, j));
  }
  return map;
}

}  // namespace ancify::chromatin
