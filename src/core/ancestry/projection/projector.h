// One outgroup's bases in the focal genome's coordinates, from pairs of aligned rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ancestry/projection/focal_check.h"
#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

struct ProjectionOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  // Bytes of text, and of the file, at a time; what a core keeps in its own cache is best.
  std::size_t chunk_size = 1 << 18;
  SimdLevel simd = SimdLevel::kScalar;
  bool focal_row = false;  // of each block, in place of the outgroup's
  // Of the focal species in files of several species: the name, and all chromosomes it has.
  std::string focal_name;
  std::vector<std::string> focal_chromosomes;
  OpenFocal open_focal = {};  // where blocks are compared with the focal genome
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

// What is wrong with a pair of rows of equal length on this chromosome; empty if it is good.
std::string problem_of(const AlignedPair& pair, const Chromosome& chromosome);
std::string rows_differ_in_length(const AlignedPair& pair);

// Projects pairs of rows into a store. A focal letter's column is one position; where pairs overlap
// the later one wins; elsewhere N.
class Projector : public PairSink {
 public:
  // `file` is for messages; `chromosomes`, `store`, `check` and `context` have to stay; without
  // `check` nothing is compared with the focal genome. Interrupted where the task is no longer
  // wanted.
  Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
            SequenceStore& store, FocalCheck* check, const ProjectionOptions& options,
            const TaskContext& context);

  void project(const AlignedPair& pair, std::int64_t duplicates) override;
  void pass_over(std::string_view chromosome) override;
  void bad(std::int64_t line, const std::string& problem) override { bad_.add(line, problem); }
  // N for all that no block covered.
  void finish();
  ProjectionReport report() const;

 private:
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
  FocalCheck* check_;
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
