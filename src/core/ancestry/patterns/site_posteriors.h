// Posteriors of positions, where a byte for each is not enough.
#pragma once

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/simd.h"

namespace ancify {

// The posterior of A at the i-th position becomes out[i], of C out[pitch + i], and so on; NaN where
// there is none.
void site_posteriors(const Method& method, const Sites& sites, SimdLevel level, double* out,
                     std::size_t pitch);

}  // namespace ancify
