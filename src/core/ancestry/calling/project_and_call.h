// Runs projection and calling as one job: calling takes sequences from where projection puts them.
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
  std::string name_in_file = {};  // in a file of several species
  std::string folder = {};        // for its projected sequences; empty if they are not kept
};

// Told of finished alignments and chromosomes, as by project_alignments() and call_chromosomes().
struct RunListener {
  AlignmentProjected projected;
  ChromosomeCalled called;
};

struct ProjectedAndCalled {
  std::vector<ProjectionReport> reports;  // one an outgroup
  std::vector<CallCounts> counts;         // one a chromosome
};

// Projects the outgroups, which are in the caller's order, and calls into <output>/<chromosome>.fa,
// as project_alignments() and call_chromosomes() do. On devices, as many chromosomes as fit go
// straight to device memory and are called there. All others stay in the host's memory, or in their
// files if these are kept, and are called from there. Too little memory is an error before any file
// is read.
ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener = {});

}  // namespace ancify
