// Fills windows with the bases of alignments: a part of the genome is worked on once all alignments
// have passed it, and its memory is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/calling/window_schedule.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/genome/lengths.h"

namespace ancify {

struct OutgroupAlignment {
  std::string species;
  std::string file;
  std::string name_in_file = {};  // in a file of several species
  std::string folder = {};        // for its projected sequences; empty if not kept
};

// The usual positions of a window. With many species, shorter windows keep the bases of all in
// little memory, which is reused soon.
constexpr std::int64_t usual_window(std::size_t species) {
  constexpr std::size_t few = 16;
  return species <= few ? std::int64_t{1} << 22 : std::int64_t{1} << 19;
}

struct WindowLimits {
  // Bytes for bases that wait; at least four windows of all outgroups. Readers may exceed this
  // limit by one read.
  std::int64_t memory = 2'000'000'000;
  // Positions of a window, a multiple of kPackedGroup.
  std::int64_t window = usual_window(1);
};

// A file, and the indices of its outgroups.
struct AlignmentFile {
  std::string path;
  std::vector<std::size_t> outgroups;
};

// The files in the order of their first outgroups.
std::vector<AlignmentFile> alignment_files(const std::vector<OutgroupAlignment>& outgroups);

// Reads all alignments together, and does the schedule's work on all windows. Its sequences are the
// outgroups', then with `focal_rows` the focal rows of each file. Returns a report per outgroup.
//
// If an alignment is unsorted, or if the waiting bases exceed the limit, parts of chromosomes need
// another reading of all files, which the log reports. `control` counts the bytes of the files.
std::vector<ProjectionReport> read_windows(const std::vector<OutgroupAlignment>& outgroups,
                                           bool focal_rows,
                                           const std::vector<Chromosome>& chromosomes,
                                           const ProjectionOptions& options,
                                           WindowSchedule& schedule, const WindowLimits& limits,
                                           const AlignmentProjected& projected, JobControl& control,
                                           const TaskContext& context);

}  // namespace ancify
