// Phase 1: an outgroup's bases in the focal genome's coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/io/axt.h"
#include "core/io/bad_blocks.h"
#include "core/io/lengths.h"
#include "core/io/sequence_store.h"

namespace ancify {

struct ProjectionOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  // Bytes of text, and of the file, at a time; what a core keeps in its own cache is best.
  std::size_t chunk_size = 1 << 18;
  SimdLevel simd = SimdLevel::kScalar;
  bool focal_row = false;  // of each block, in place of the outgroup's
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

// Projects the text of an AXT file, which comes in pieces, into a store.
class Projector {
 public:
  // `file` is for messages; `chromosomes`, `store` and `context` have to stay. Interrupted where
  // the task is no longer wanted.
  Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
            SequenceStore& store, const ProjectionOptions& options, const TaskContext& context);

  // As AxtParser::consume().
  std::size_t consume(std::string_view text, bool last);
  // N for all that no block covered.
  void finish();
  ProjectionReport report() const;

 private:
  void project(const AxtBlock& block);
  // Empty if the block is good.
  std::string problem_of(const AxtBlock& block, const Chromosome& chromosome) const;
  void pass_over(std::string_view name);
  void write(const AxtBlock& block, std::size_t chromosome);
  void fill_up_to(std::size_t chromosome, std::int64_t position);
  void go_to(std::size_t chromosome, std::int64_t position);
  // Calls put(out, from, n) for pieces of the n characters or columns that come next; it puts up to
  // n bases and gives their number.
  template <class Put>
  void gather(std::size_t n, Put put);
  void write_gathered();

  const std::vector<Chromosome>& chromosomes_;
  SequenceStore& store_;
  const TaskContext& context_;
  SimdLevel simd_;
  bool focal_row_;
  BadBlocks bad_;
  AxtParser parser_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::string, std::string> other_prefix_;  // similar name -> asked for
  std::vector<std::int64_t> filled_;                           // positions before it are gathered
  ProjectionReport report_;

  // Runs are short and nearly always in order: they are gathered, and go to the store in pieces
  // that a core's own cache holds.
  std::vector<char> gathered_;
  std::size_t n_gathered_ = 0;
  std::size_t chromosome_ = 0;  // of what is gathered
  std::int64_t position_ = 0;
};

// Projects one AXT file onto `chromosomes`, into `store`, which is committed at the end. A focal
// letter's column is one position; where blocks overlap the later one wins; elsewhere N.
// FormatError for a bad block unless they are skipped, and where no chromosome of those asked for
// occurs. Advances `control` by the bytes of the file.
ProjectionReport project_alignment(const std::string& axt,
                                   const std::vector<Chromosome>& chromosomes, SequenceStore& store,
                                   const ProjectionOptions& options, JobControl& control,
                                   const TaskContext& context);

struct Alignment {
  std::string species;
  std::string axt;
  std::unique_ptr<SequenceStore> store;
};

// Projects several alignments at once, each at least on a thread of its own.
std::vector<ProjectionReport> project_alignments(const std::vector<Alignment>& alignments,
                                                 const std::vector<Chromosome>& chromosomes,
                                                 const ProjectionOptions& options, int threads,
                                                 JobControl& control);

}  // namespace ancify
