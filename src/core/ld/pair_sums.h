// Sums of two-locus statistics over the pairs of sites in each bin of distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/ld/site_planes.h"

namespace ancify {

// The chromosome of a site that is not used, which does not stand between others of its own.
constexpr int kLeftOut = -1;

// The sites to pair, in order of chromosome and position. A value for each.
struct PairedSites {
  const SitePlanes* planes;
  std::vector<int> chromosome;
  std::vector<std::int64_t> position;
  std::vector<double> morgans;  // does not decrease within a chromosome
  std::vector<int> block;       // from 0; a pair belongs to its left site's block
};

struct PairBins {
  std::vector<double> limits;  // in Morgans, increasing: a bin has its lower limit
  int blocks = 1;
};

// Block by block. Statistics are those of ld_statistics().
struct PairSums {
  std::size_t bins;
  std::size_t statistics;
  std::vector<double> sums;            // [(block * bins + bin) * statistics + statistic]
  std::vector<std::int64_t> pairs;     // [block * bins + bin]
  std::vector<double> heterozygosity;  // [block * pairs of populations + pair], over sites
};

// Pairs of sites at one position are left out, and pairs with fewer than kFewestUnits that are
// called at both, in any population. Any number of threads and any level give the same bytes.
PairSums sum_pairs(const PairedSites& sites, const PairBins& bins, int threads, SimdLevel simd,
                   JobControl& control);

}  // namespace ancify
