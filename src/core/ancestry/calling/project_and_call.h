// Runs projection and calling as one job: a part of the genome is called once all alignments have
// passed it, and its memory is reused.
#pragma once

#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/window_reading.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"

namespace ancify {

// Notified of finished alignments and chromosomes, as by project_alignments() and
// call_chromosomes().
struct RunListener {
  AlignmentProjected projected;
  ChromosomeCalled called;
};

struct ProjectedAndCalled {
  std::vector<ProjectionReport> reports;  // one per outgroup
  std::vector<CallCounts> counts;         // one per chromosome
};

// Projects the outgroups, in the caller's order, and calls into <output>/<chromosome>.fa, as
// project_alignments() and call_chromosomes() do. Calls get their final names when all alignments
// have ended, since a later block may change them.
//
// Alignments are read by read_windows().
ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener = {},
                                    const WindowLimits& limits = {});

}  // namespace ancify
