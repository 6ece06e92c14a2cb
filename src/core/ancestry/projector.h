// One outgroup's bases in the focal genome's coordinates, from pairs of aligned rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/io/aligned_pair.h"
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
  // Of the focal species in MAF files: the name, and all chromosomes it has.
  std::string maf_focal;
  std::vector<std::string> maf_chromosomes;
};

// What an alignment held of one outgroup.
struct ProjectionReport {
  std::vector<std::int64_t> blocks;      // used, for each chromosome
  std::int64_t passed_over = 0;          // blocks on chromosomes that were not asked for
  std::vector<std::string> other_names;  // the first few such chromosomes
  // Chromosomes asked for whose name, with a leading chr put on or taken off, occurs instead.
  std::vector<std::string> other_prefix;
  std::int64_t bad = 0;  // blocks left out
  std::vector<BadBlocks::Example> bad_examples;
  // Rows of the outgroup or the focal species that blocks had besides the first.
  std::int64_t duplicates = 0;
};

// Projects pairs of rows into a store. A focal letter's column is one position; where pairs overlap
// the later one wins; elsewhere N.
class Projector {
 public:
  // `file` is for messages; `chromosomes`, `store` and `context` have to stay. Interrupted where
  // the task is no longer wanted.
  Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
            SequenceStore& store, const ProjectionOptions& options, const TaskContext& context);

  // `duplicates`: rows that were left out for those of the pair.
  void project(const AlignedPair& pair, std::int64_t duplicates = 0);
  // Counts a block on a chromosome that was not asked for.
  void pass_over(std::string_view chromosome);
  void bad(std::int64_t line, const std::string& problem) { bad_.add(line, problem); }
  // N for all that no block covered.
  void finish();
  ProjectionReport report() const;

 private:
  // Empty if the pair is good.
  std::string problem_of(const AlignedPair& pair, const Chromosome& chromosome) const;
  void write(const AlignedPair& pair, std::size_t chromosome);
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

}  // namespace ancify
