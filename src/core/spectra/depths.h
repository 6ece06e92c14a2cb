// Counts the genotypes of a VCF by depth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

// The largest depth with a count of its own.
constexpr int kMostDepth = 1000;

struct DepthCounts {
  std::int64_t sites = 0;  // records with one REF and one ALT base, and depths
  // For each population, the number of genotypes of each depth from 0 to kMostDepth.
  std::vector<std::vector<std::int64_t>> genotypes;
};

// `populations` holds each sample's population, from 0, or kNoPopulation. An uncalled genotype, or
// one without a depth, has depth 0. Depths are DP of FORMAT. Throws FormatError for a negative
// depth or a called genotype that is not diploid, and if no record has depths.
DepthCounts count_depths(const std::string& variants, const std::vector<int>& populations,
                         std::size_t n_populations, JobControl& control);

}  // namespace ancify
