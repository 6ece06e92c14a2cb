// Both phases of a run at once: calling takes the sequences from where projection puts them.
#pragma once

#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"

namespace ancify {

struct OutgroupAlignment {
  std::string species;
  std::string file;
  std::string name_in_file = {};  // where the file has several species
  std::string folder = {};        // where its projected sequences are kept, or empty
};

// Told of what is finished, as project_alignments() and call_chromosomes() do.
struct RunListener {
  AlignmentProjected projected;
  ChromosomeCalled called;
};

struct ProjectedAndCalled {
  std::vector<ProjectionReport> reports;  // of each outgroup
  std::vector<CallCounts> counts;         // of each chromosome
};

// Projects the outgroups, in the caller's order, and calls into <output>/<chromosome>.fa, as
// project_alignments() and call_chromosomes() do. On devices the sequences go straight to their
// memory and are called there, as far as they fit; others stay in the host's memory, or in their
// files if they are kept, and are kept or called from there. Too little memory is an error before
// any file is read.
ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener = {});

}  // namespace ancify
