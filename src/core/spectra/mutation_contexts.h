// Counts the contexts of all sequence positions at which a mutation could have been observed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_set.h"
#include "core/spectra/mutation_types.h"
#include "core/spectra/window_sums.h"

namespace ancify {

struct ContextOptions {
  std::vector<SequenceFile> sequences;
  int k = 3;
  std::string mask;            // a BED of positions that are not sites; empty for none
  bool low_confidence = true;  // count contexts with lower case too
  std::int64_t window = 0;     // bases; 0 for whole chromosomes
  int threads = 1;
};

struct ContextCounts {
  std::vector<Chromosome> chromosomes;  // in the order of the files
  WindowSums sums;  // windows in the order of chromosomes; cells: contexts, as in MutationTypes
};

// A position is counted in its window if its base and all others of its context are known. Throws
// FormatError for an invalid file, or two sequences of a chromosome; InputError if the mask has
// none of the chromosomes. The number of threads does not change the counts.
ContextCounts count_contexts(const ContextOptions& options, JobControl& control);

}  // namespace ancify
