// Means and variances of variants, and their standardised columns.
#pragma once

#include <cstdint>

#include "core/genotypes/genotype_products.h"

namespace ancify {

// Mean and population variance over observed calls; all are 0 without any.
struct VariantMoments {
  double observed = 0;
  double mean = 0;
  double variance = 0;
};

VariantMoments moments_of(const VariantCounts& counts, std::int64_t samples);

// Products with z_j = (g_j - mean) variance^(scale_power / 2). Variants without variance are left
// out. `matrix` must outlive them.
GenotypeProducts standardise(const GenotypeMatrix& matrix, double scale_power);

}  // namespace ancify
