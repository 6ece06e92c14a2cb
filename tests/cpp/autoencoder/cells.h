// Small random cells, and networks to try on them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/autoencoder/images.h"
#include "core/chromatin/map_pairs.h"

namespace ancify::test {

// Random walks and their maps.
struct Cells {
  std::int64_t points;
  std::int64_t cells;
  std::vector<double> structures;
  std::vector<double> distances;

  Cells(std::int64_t points, std::int64_t cells, unsigned seed) : points(points), cells(cells) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    structures.resize(static_cast<std::size_t>(3 * points * cells));
    double at = 0;
    for (std::size_t i = 0; i < structures.size(); ++i) {
      at = i % static_cast<std::size_t>(points) == 0 ? 0 : at + normal(generator);
      structures[i] = at;
    }
    measure();
  }

  double* axis(std::int64_t cell, std::int64_t k) {
    return structures.data() + (cell * 3 + k) * points;
  }
  void hide(std::int64_t cell, std::int64_t point) {
    for (std::int64_t k = 0; k < 3; ++k) {
      axis(cell, k)[point] = std::numeric_limits<double>::quiet_NaN();
    }
    measure();
  }
  void measure() {
    distances.clear();
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      for (std::int64_t j = 1; j < points; ++j) {
        for (std::int64_t i = 0; i < j; ++i) {
          double square = 0;
          for (std::int64_t k = 0; k < 3; ++k) {
            square += std::pow(axis(cell, k)[i] - axis(cell, k)[j], 2);
          }
          distances.push_back(std::sqrt(square));
        }
      }
    }
  }
  autoencoder::Maps maps() const { return {points, cells, distances.data(), structures.data()}; }
};

}  // namespace ancify::test
