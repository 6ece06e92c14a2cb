// The count of each kind of polymorphic site in a variant file, for fitting histories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/variants/outgroup_bases.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

struct VariantCountOptions {
  std::string path;
  OutgroupFiles outgroups;
  std::vector<std::string> samples;         // whose alleles are counted; all if there are none
  std::optional<CountFields> count_fields;  // in their place
};

struct CountedVariants {
  struct Kind {
    std::size_t chromosome = 0;  // its place in `chromosomes`
    PolymorphicSite site;        // the first allele is REF
    std::int64_t count = 0;
  };
  std::vector<std::string> chromosomes;
  // In the order of chromosome, pattern, alleles, haplotypes and copies.
  std::vector<Kind> kinds;
  std::int64_t records = 0;    // on chromosomes with outgroups
  std::int64_t uncounted = 0;  // of these, records with two alleles of unknown counts
  std::int64_t excluded = 0;   // sites that exclusion_of_info() excludes
};

// Counts the records that site_of_record() has with copies, where an outgroup has a base. Positions
// with several such records are left out, and what exclusion_of_info() excludes. Throws like
// VariantReader, CountedSamples and OutgroupBases.
CountedVariants count_variants(const VariantCountOptions& options, JobControl& control);

}  // namespace ancify
