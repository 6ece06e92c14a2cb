// How often each kind of polymorphic site occurs in a variant file, for fitting histories.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/variants/outgroup_bases.h"
#include "core/exec/job_control.h"

namespace ancify {

struct VariantCountOptions {
  std::string path;
  OutgroupFiles outgroups;
  std::vector<std::string> samples;  // whose alleles are counted; all if there are none
};

struct CountedVariants {
  // In the order of pattern, alleles, haplotypes and copies. The first allele is REF.
  std::vector<std::pair<PolymorphicSite, std::int64_t>> sites;
  std::int64_t records = 0;    // on chromosomes with outgroups
  std::int64_t uncounted = 0;  // of these, those with two alleles whose counts are not known
};

// Counts the records that site_of_record() has with copies, where an outgroup has a base. Positions
// with several such records are left out. Throws like VariantReader, CountedSamples and
// OutgroupBases.
CountedVariants count_variants(const VariantCountOptions& options, JobControl& control);

}  // namespace ancify
