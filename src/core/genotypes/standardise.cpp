// Scales variants by a power of their variance.
#include "core/genotypes/standardise.h"

#include <cmath>
#include <utility>
#include <vector>

namespace ancify {

GenotypeProducts standardise(const GenotypeMatrix& matrix, double scale_power) {
  std::vector<double> means;
  std::vector<double> scales;
  for (const VariantMoments& moments : matrix.moments()) {
    means.push_back(moments.mean);
    scales.push_back(moments.variance > 0 ? std::pow(moments.variance, scale_power / 2) : 0);
  }
  return {matrix, std::move(means), std::move(scales)};
}

}  // namespace ancify
