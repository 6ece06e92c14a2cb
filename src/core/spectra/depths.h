// Counts how often samples of a VCF have each depth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// The most depth that is told apart.
constexpr int kMostDepth = 1000;

struct DepthCounts {
  std::int64_t sites = 0;  // records with one REF and one ALT base, and depths
  // For each population, the number of genotypes of each depth from 0 to kMostDepth.
  std::vector<std::vector<std::int64_t>> genotypes;
};

// `populations`: of each sample, from 0, or kNoPopulation. A genotype that is not called has depth
// 0, and so has one without a depth. Depths are DP of FORMAT. FormatError for a negative depth, a
// called genotype that is not diploid, or if no record has depths.
DepthCounts count_depths(const std::string& variants, const std::vector<int>& populations,
                         std::size_t n_populations, JobControl& control);

}  // namespace ancify
