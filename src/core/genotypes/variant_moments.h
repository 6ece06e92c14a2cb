// Means and variances of variants.
#pragma once

#include <cstdint>

#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/quads.h"

namespace ancify {

// Mean and population variance over observed genotypes, in copies of the counted allele; all are 0
// without any.
struct VariantMoments {
  double observed = 0;
  double mean = 0;
  double variance = 0;
};

VariantMoments moments_of(const VariantCounts& counts, std::int64_t samples);

// Moments of the dosages of `samples`. A variant of equal dosages has a variance of exactly 0.
VariantMoments moments_of(const Dosage* dosages, std::int64_t samples, int unit);

}  // namespace ancify
