// Random matrices, and the levels of this processor, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/device/simd.h"

namespace ancify {

template <class T>
std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<T> normal;
  std::vector<T> numbers(static_cast<std::size_t>(n));
  for (T& number : numbers) number = normal(generator);
  return numbers;
}

inline std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> result;
  for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
    result.push_back(static_cast<SimdLevel>(level));
  }
  return result;
}

}  // namespace ancify
