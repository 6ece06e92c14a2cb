// Counts the mutations of a VCF or BCF by type.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/spectra/misidentification.h"
#include "core/spectra/mutation_types.h"
#include "core/spectra/site_reader.h"
#include "core/spectra/site_table.h"
#include "core/spectra/window_sums.h"

namespace ancify {

// The contribution of a site with posterior p: p to its type, 1 - p to the type with the alleles
// exchanged.
enum class CountedAs {
  kSites,       // 1 to each population in which it varies
  kHaplotypes,  // to each population, its haplotypes with the derived allele
  kFrequencies  // a row of the table, whose windows are the types
};

struct MutationOptions : SiteReaderOptions {
  int k = 3;
  bool reference_context = false;  // neighbouring bases from `reference`, not from `ancestral`
  CountedAs counted_as = CountedAs::kSites;
  std::int64_t window = 0;  // bases; 0 for whole chromosomes
};

// The first three counts are further reasons to exclude a site; it counts under the first that
// applies.
struct MutationCounts : RecordTotals {
  explicit MutationCounts(std::size_t populations) : table(std::vector<int>(populations)) {}

  std::int64_t no_context = 0;   // a neighbouring base, or the chromosome's sequence, is missing
  std::int64_t low_context = 0;  // has low confidence, without options.low_confidence
  std::int64_t invariant = 0;    // does not vary in the populations together
  std::int64_t used = 0;
  // For each of `chromosomes`, the length of the sequence that provides contexts, 0 without one.
  std::vector<std::int64_t> lengths;
  WindowSums sums;  // windows in the order of chromosomes; cells: population x types + type
  SiteTable table;  // for sizes 0
  std::vector<Misidentification::Sums> errors;  // of each type
};

// Reads all records of options.variants. Throws the errors of SiteReader.
MutationCounts count_mutations(const MutationOptions& options, JobControl& control);

}  // namespace ancify
