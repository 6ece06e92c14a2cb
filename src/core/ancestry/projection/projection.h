// An outgroup's bases in the focal genome's coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/alignment_formats.h"
#include "core/ancestry/projection/projector.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// One species of an alignment file.
struct ProjectionTarget {
  std::string name_in_file;  // where the file has several species
  SequenceStore* store;
};

// Projects the text of an alignment file, of any format, which comes in pieces.
class AlignmentProjector {
 public:
  // `file` is for messages. All but `targets`, and the stores, have to stay. Interrupted where the
  // task is no longer wanted.
  AlignmentProjector(const std::string& file, const std::vector<ProjectionTarget>& targets,
                     const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                     const TaskContext& context,
                     const std::vector<AlignmentFormat>& formats = alignment_formats());

  // As PairReader::consume().
  std::size_t consume(std::string_view text, bool last);
  // N for all that no block covered, and a report for each target. FormatError where no chromosome
  // of those asked for occurs.
  std::vector<ProjectionReport> finish();

 private:
  ProjectionReport report(const Projector& projector) const;
  std::string doubt() const;

  const std::string& file_;
  const std::vector<Chromosome>& chromosomes_;
  BadBlocks bad_;  // for all targets
  std::optional<FocalCheck> check_;
  std::deque<Projector> projectors_;
  std::vector<PairSink*> sinks_;
  AlignmentPairs pairs_;
};

// Projects species of one file, which is read once, onto `chromosomes`. The stores are committed
// when all are whole. FormatError for a bad block unless they are skipped, and where no chromosome
// of those asked for occurs. Advances `control` by the bytes of the file.
std::vector<ProjectionReport> project_alignment(const std::string& file,
                                                const std::vector<ProjectionTarget>& targets,
                                                const std::vector<Chromosome>& chromosomes,
                                                const ProjectionOptions& options,
                                                JobControl& control, const TaskContext& context);

struct Alignment {
  std::string species;
  std::string file;
  std::unique_ptr<SequenceStore> store;
  std::string name_in_file = {};
};

// Told, on any thread, of each alignment whose store is committed, with its checksums.
using AlignmentProjected = std::function<void(std::size_t alignment, const ProjectionReport&,
                                              const std::vector<FileChecksum>&)>;

// Projects several alignments at once, each file at least on a thread of its own.
std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control,
                                                 const AlignmentProjected& projected = {});

}  // namespace ancify
