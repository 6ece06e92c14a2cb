// Computes means and variances from integers.
#include "core/genotypes/variant_moments.h"

#include "core/formats/genotype/selected_dosages.h"

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

VariantMoments moments_of(const Dosage* dosages, std::int64_t samples, int unit) {
  const DosageSums sums = sum_dosages(dosages, samples, unit);
  return {sums.n, sums.n > 0 ? sums.sum / sums.n : 0, sums.variance};
}

}  // namespace ancify
