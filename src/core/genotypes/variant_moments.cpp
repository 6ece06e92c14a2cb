// Computes means and variances from integers. With sums of (d - c) and (d - c)^2 about an integer c
// near the mean of the dosages d, the variance has no cancellation.
#include "core/genotypes/variant_moments.h"

#include <cmath>

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
  std::int64_t observed = 0;
  std::int64_t sum = 0;
  std::int64_t squares = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const int value = dosages[i] == kMissingDosage ? 0 : dosages[i];
    observed += dosages[i] != kMissingDosage;
    sum += value;
    squares += value * value;
  }
  if (observed == 0) return {};
  const auto n = static_cast<double>(observed);
  const auto centre = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(sum) / n));
  const auto shifted = static_cast<double>(sum - centre * observed);
  const auto around = static_cast<double>(squares - 2 * centre * sum + centre * centre * observed);
  const double steps = static_cast<double>(unit);
  const double variance = (around - shifted * shifted / n) / n;
  return {n, 1 + (static_cast<double>(centre) + shifted / n) / steps, variance / (steps * steps)};
}

}  // namespace ancify
