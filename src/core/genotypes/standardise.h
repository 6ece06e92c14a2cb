// Standardised columns of variants.
#pragma once

#include "core/genotypes/genotype_products.h"

namespace ancify {

// Products with z_j = (g_j - mean) variance^(scale_power / 2). Variants without variance are left
// out. `matrix` must outlive them.
GenotypeProducts standardise(const GenotypeMatrix& matrix, double scale_power);

}  // namespace ancify
