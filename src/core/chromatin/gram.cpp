// Gram matrices (Torgerson 1952, Psychometrika 17:401).
#include "core/chromatin/gram.h"

namespace ancify::chromatin {

void distances_to_gram(std::size_t n, std::vector<double>& distances) {
  std::vector<double> means(n, 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double& value = distances[i * n + j];
      value *= value;
      means[i] += value / static_cast<double>(n);
    }
    mean += means[i] / static_cast<double>(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      distances[i * n + j] = -0.5 * (distances[i * n + j] - means[i] - means[j] + mean);
    }
  }
}

}  // namespace ancify::chromatin
