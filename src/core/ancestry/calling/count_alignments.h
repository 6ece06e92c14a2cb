// Site patterns of alignments: their counts, and the outgroups' letters at a VCF's records.
#pragma once

#include <vector>

#include "core/ancestry/calling/window_reading.h"
#include "core/ancestry/patterns/pattern_counts.h"
#include "core/ancestry/projection/projection.h"
#include "core/ancestry/variants/record_patterns.h"
#include "core/exec/job_control.h"

namespace ancify {

struct CountedAlignments {
  std::vector<ProjectionReport> reports;  // one per outgroup
  std::vector<PatternCounts> counts;      // one per chromosome of `records`
};

// Reads all alignments together (read_windows()). Sets the outgroups' letters at `records`, and
// counts the patterns of the outgroups and the focal species at all positions of the records'
// chromosomes, whose lengths are `chromosomes`. Focal bases come from the genome of
// options.open_focal or, if it is not set, the alignments' own: at each position the first
// file's base. FormatError for a record beyond its chromosome.
CountedAlignments count_alignments(const std::vector<OutgroupAlignment>& outgroups,
                                   const std::vector<Chromosome>& chromosomes,
                                   const ProjectionOptions& options, int threads,
                                   RecordPatterns& records, JobControl& control,
                                   const WindowLimits& limits = {});

// Sets the letters of one outgroup at `records`, in the alignment's case. The rest is as above.
ProjectionReport take_letters(const OutgroupAlignment& outgroup,
                              const std::vector<Chromosome>& chromosomes,
                              const ProjectionOptions& options, int threads,
                              RecordPatterns& records, JobControl& control);

}  // namespace ancify
