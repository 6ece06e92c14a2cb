// Unbiased estimates of a pair of sites in one population, for batches of pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/device/simd.h"
#include "core/ld/site_planes.h"
#include "core/ld/statistics.h"

namespace ancify {

constexpr std::size_t kBatchPairs = 256;
using BatchRow = std::array<double, kBatchPairs>;

// Sums over the units that are called at both sites, of x at the left and of y at the right one.
enum UnitSum : std::size_t { kN, kX, kY, kXX, kYY, kXY, kXXY, kXYY, kXXYY, kUnitSums };

using UnitRows = std::array<BatchRow, kUnitSums>;
using MomentRows = std::array<BatchRow, kLdMoments>;

// The pairs of a left site with consecutive right sites.
struct PairRange {
  std::int64_t left;
  std::int64_t right;  // the first
  std::size_t n;
};

// Writes the sums of these pairs to columns `at`, `at` + 1, ... of the rows.
void sum_units(const SitePlanes& planes, std::size_t population, const PairRange& pairs,
               SimdLevel simd, std::size_t at, UnitRows& rows);

// The moments of n pairs, each with at least kFewestUnits units. Rows are zero-padded to a multiple
// of 8.
void estimate_moments(const UnitRows& sums, std::size_t n, UnitKind kind, SimdLevel simd,
                      MomentRows& moments);

// The sum over n pairs, zero-padded as above, of the product of 1 to 4 rows.
double sum_products(const std::array<const BatchRow*, 4>& factors, std::size_t n_factors,
                    std::size_t n, SimdLevel simd);

}  // namespace ancify
