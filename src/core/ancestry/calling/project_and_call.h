// Runs projection and calling as one job: a part of the genome is called once all alignments have
// passed it, and its memory is reused.
#pragma once

#include <cstdint>
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
  std::string folder = {};        // for its projected sequences; empty if not kept
};

// Notified of finished alignments and chromosomes, as by project_alignments() and
// call_chromosomes().
struct RunListener {
  AlignmentProjected projected;
  ChromosomeCalled called;
};

struct PipelineLimits {
  // Bytes for bases that wait for calls; at least four windows of all outgroups. Readers may exceed
  // this limit by one read.
  std::int64_t memory = 2'000'000'000;
  // Positions called together, a multiple of kPackedGroup.
  std::int64_t window = std::int64_t{1} << 22;
};

struct ProjectedAndCalled {
  std::vector<ProjectionReport> reports;  // one per outgroup
  std::vector<CallCounts> counts;         // one per chromosome
};

// Projects the outgroups, in the caller's order, and calls into <output>/<chromosome>.fa, as
// project_alignments() and call_chromosomes() do. Calls get their final names when all alignments
// have ended, since a later block may change them.
//
// Alignments are read together. If one is unsorted, or if the waiting bases exceed the limit, parts
// of chromosomes need another reading of all files, which the log reports. `control` counts the
// bytes of the files.
ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener = {},
                                    const PipelineLimits& limits = {});

}  // namespace ancify
