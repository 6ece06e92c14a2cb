// Posteriors at positions, as doubles rather than phred-scaled bytes.
#pragma once

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/simd.h"

namespace ancify {

// Writes the posterior of base b at the i-th site to out[b * pitch + i], b from 0 (A) to 3 (T); NaN
// without a posterior.
void site_posteriors(const Method& method, const Sites& sites, SimdLevel level, double* out,
                     std::size_t pitch);

}  // namespace ancify
