// Runs projection and calling as one job: a part of the genome is called as soon as all alignments
// have moved on, and its memory is used again.
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
  std::string folder = {};        // for its projected sequences; empty if they are not kept
};

// Told of finished alignments and chromosomes, as by project_alignments() and call_chromosomes().
struct RunListener {
  AlignmentProjected projected;
  ChromosomeCalled called;
};

struct PipelineLimits {
  // Bytes of bases that wait for calls; at least four windows of all outgroups. Readers may exceed
  // them by what they read at a time.
  std::int64_t memory = 2'000'000'000;
  // Positions that are called together, a multiple of kPackedGroup.
  std::int64_t window = std::int64_t{1} << 22;
};

struct ProjectedAndCalled {
  std::vector<ProjectionReport> reports;  // one an outgroup
  std::vector<CallCounts> counts;         // one a chromosome
};

// Projects the outgroups, which are in the caller's order, and calls into <output>/<chromosome>.fa,
// as project_alignments() and call_chromosomes() do. Calls get their names when all alignments have
// ended, since a later block may change them.
//
// Alignments are read together. If one is not sorted, or if so many bases wait that they exceed the
// limit, then parts of chromosomes need another reading of all files. The log tells of that.
// `control` counts the bytes of the files.
ProjectedAndCalled project_and_call(const std::vector<OutgroupAlignment>& outgroups,
                                    const std::vector<Chromosome>& chromosomes,
                                    const ProjectionOptions& options, const Caller& caller,
                                    const std::string& output, JobControl& control,
                                    const RunListener& listener = {},
                                    const PipelineLimits& limits = {});

}  // namespace ancify
