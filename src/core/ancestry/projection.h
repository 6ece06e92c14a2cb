// Phase 1: an outgroup's bases in the focal genome's coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/io/bad_blocks.h"
#include "core/io/lengths.h"
#include "core/io/sequence_store.h"

namespace ancify {

struct ProjectionOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  std::size_t chunk_size = 1 << 20;  // bytes of text, and of the file, at a time
};

// What one alignment held.
struct ProjectionReport {
  std::vector<std::int64_t> blocks;      // used, for each chromosome
  std::int64_t passed_over = 0;          // blocks on chromosomes that were not asked for
  std::vector<std::string> other_names;  // the first few such chromosomes
  // Chromosomes asked for whose name, with a leading chr put on or taken off, occurs instead.
  std::vector<std::string> other_prefix;
  std::int64_t bad = 0;  // blocks left out
  std::vector<BadBlocks::Example> bad_examples;
};

// Projects one AXT file onto `chromosomes`, into `store`, which is committed at the end. A focal
// letter's column is one position; where blocks overlap the later one wins; elsewhere N.
// FormatError for a bad block unless they are skipped, and where no chromosome of those asked for
// occurs. Advances `control` by the bytes of the file.
ProjectionReport project_alignment(const std::string& axt,
                                   const std::vector<Chromosome>& chromosomes, SequenceStore& store,
                                   const ProjectionOptions& options, JobControl& control,
                                   const StopToken& stop);

struct Alignment {
  std::string species;
  std::string axt;
  std::unique_ptr<SequenceStore> store;
};

// Projects several alignments at once, one thread each.
std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control);

// Files that one of `alignments` projections running at once may keep mapped.
std::size_t most_open_files(std::size_t alignments);

}  // namespace ancify
