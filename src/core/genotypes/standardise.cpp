// Computes means and variances from integers.
#include "core/genotypes/standardise.h"

#include <cmath>
#include <utility>
#include <vector>

namespace ancify {

VariantMoments moments_of(const VariantCounts& counts, std::int64_t samples) {
  const std::int64_t observed = samples - counts.missing;
  if (observed == 0) return {};
  const std::int64_t sum = counts.one + 2 * counts.two;
  const auto n = static_cast<double>(observed);
  // Exact: n^2 times the variance is below 2^53 for 47 million samples.
  const std::int64_t scaled = observed * (counts.one + 4 * counts.two) - sum * sum;
  return {n, static_cast<double>(sum) / n, static_cast<double>(scaled) / (n * n)};
}

GenotypeProducts standardise(const GenotypeMatrix& matrix, double scale_power) {
  std::vector<double> means;
  std::vector<double> scales;
  for (const auto& counts : matrix.counts()) {
    const VariantMoments moments = moments_of(counts, matrix.samples());
    means.push_back(moments.mean);
    scales.push_back(moments.variance > 0 ? std::pow(moments.variance, scale_power / 2) : 0);
  }
  return {matrix, std::move(means), std::move(scales)};
}

}  // namespace ancify
