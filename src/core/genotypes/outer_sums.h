// Sums of outer products of variants, for dense kernels.
#pragma once

#include <cstdint>

#include "core/device/simd.h"

namespace ancify {

// Columns that add_outer_products() works on, and what the rows of `z` are a multiple of.
constexpr std::int64_t kOuterColumns = 4;
constexpr std::int64_t kOuterRows = 24;

// out[c * out_stride + i] += sum over variants j of z[j * stride + i] * right[j * kOuterColumns +
// c], for i in [first, end), multiples of kOuterRows. Each sum goes from variant to variant.
void add_outer_products(const double* z, std::int64_t stride, const double* right, int variants,
                        std::int64_t first, std::int64_t end, SimdLevel simd, double* out,
                        std::int64_t out_stride);

}  // namespace ancify
