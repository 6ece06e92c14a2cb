// The code is h + (2p - 1) g for g copies, where h is 1 for heterozygotes (Zhu and others 2015,
// AJHG 96:377; scale_power 0: Vitezica, Varona and Legarra 2013, Genetics 195:1223). In
// Hardy-Weinberg equilibrium it is uncorrelated with g.
#include "core/reml/kernels/dominance_weights.h"

#include <cmath>
#include <cstddef>

#include "core/exec/errors.h"

namespace ancify::reml {

std::vector<WeightBlock> DominanceWeights::blocks() const {
  std::vector<WeightBlock> result;
  for (std::size_t at = 0; at < values.size(); at += 4) {
    result.push_back({values.data() + at, 2, 0});
  }
  return result;
}

namespace {

// The sum of squares of a variant's centred codes.
double squared_codes(const VariantCounts& counts, const VariantMoments& moments) {
  const auto one = static_cast<double>(counts.one);
  const auto two = static_cast<double>(counts.two);
  const double of_one = moments.mean;
  const double of_two = 2 * moments.mean - 2;
  const double sum = one * of_one + two * of_two;
  return one * of_one * of_one + two * of_two * of_two - sum * sum / moments.observed;
}

}  // namespace

DominanceWeights dominance_weights(const GenotypeMatrix& matrix, double scale_power) {
  DominanceWeights result;
  for (std::size_t j = 0; j < matrix.moments().size(); j += 2) {
    const VariantMoments& moments = matrix.moments()[j];
    const double p = moments.mean / 2;
    const double root = moments.variance > 0 ? 2 * p * (1 - p) : 0;
    const double weight = root > 0 ? std::pow(root, 2 * scale_power) : 0;
    const double slope = 2 * p - 1;
    if (weight > 0) result.trace += weight * squared_codes(matrix.counts()[j], moments);
    result.divisor += root > 0 ? std::pow(root, 2 + 2 * scale_power) : 0;
    for (const double value : {slope * slope, slope, slope, 1.0}) {
      result.values.push_back(weight * value);
    }
  }
  if (result.divisor == 0) {
    throw InputError("a kernel of dominance has no variant that varies among these samples");
  }
  return result;
}

}  // namespace ancify::reml
