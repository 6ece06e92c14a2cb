// Projects alignment files: the outgroups' bases in the focal genome's coordinates.
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
  // Takes the focal rows of all blocks, instead of an outgroup's. If blocks differ at a position,
  // the base that is first in the alphabet wins. Only the last target may be such a one.
  bool focal = false;
};

// Projects the text of an alignment file of any format; the text comes in pieces.
class AlignmentProjector {
 public:
  // `file` is for messages. All arguments but `targets` and `options`, and the targets' stores,
  // must outlive this. Interrupted if the task is stopped.
  AlignmentProjector(const std::string& file, const std::vector<ProjectionTarget>& targets,
                     const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                     const TaskContext& context,
                     const std::vector<AlignmentFormat>& formats = alignment_formats());

  // See PairReader::consume().
  std::size_t consume(std::string_view text, bool last);
  // Writes all positions of the blocks so far to the stores. See Projector::flush().
  void flush(std::size_t chromosome, std::int64_t position);
  // Fills uncovered positions with N, and returns a report for each target. FormatError if a target
  // has no good block on the chromosomes.
  std::vector<ProjectionReport> finish();

 private:
  ProjectionReport report(const Projector& projector) const;
  std::string doubt() const;

  const std::string& file_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions options_;
  BadBlocks bad_;  // for all targets
  std::optional<FocalCheck> check_;
  std::deque<Projector> projectors_;
  std::vector<PairSink*> sinks_;
  AlignmentPairs pairs_;
};

// Projects the targets of one file, which is read once, onto `chromosomes`, and then commits their
// stores. FormatError for a bad block unless such blocks are skipped, and if a target has no good
// block on the chromosomes. Advances `control` by the bytes of the file.
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

// Called, on any thread, for each alignment after its store is committed, with its files'
// checksums.
using AlignmentProjected = std::function<void(std::size_t alignment, const ProjectionReport&,
                                              const std::vector<FileChecksum>&)>;

// Projects several alignments in parallel, a task a file; one report an alignment. Throws like
// project_alignment().
std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control,
                                                 const AlignmentProjected& projected = {});

}  // namespace ancify
