// Sums of two-locus statistics over the pairs of sites in each bin of distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/ld/site_planes.h"

namespace ancify {

// Marks an unused site. No such site lies between used sites of one chromosome.
constexpr int kLeftOut = -1;

// The sites to pair, by chromosome and position; each vector has one value per site.
struct PairedSites {
  const SitePlanes* planes;
  std::vector<int> chromosome;
  std::vector<std::int64_t> position;
  std::vector<double> morgans;  // does not decrease within a chromosome
  std::vector<int> block;       // from 0; a pair belongs to its left site's block
};

struct PairBins {
  std::vector<double> limits;  // in Morgans, increasing; a bin includes its lower limit
  int blocks = 1;
};

// Sums by block, for the statistics of ld_statistics().
struct PairSums {
  std::size_t bins;
  std::size_t statistics;
  std::vector<double> sums;            // [(block * bins + bin) * statistics + statistic]
  std::vector<std::int64_t> pairs;     // [block * bins + bin]
  std::vector<double> heterozygosity;  // [block * pairs of populations + pair], over sites
};

// Omits pairs of sites at one position, and pairs with fewer than kFewestUnits units called at both
// sites in any population. Any number of threads and any level give the same bytes.
PairSums sum_pairs(const PairedSites& sites, const PairBins& bins, int threads, SimdLevel simd,
                   JobControl& control);

}  // namespace ancify
