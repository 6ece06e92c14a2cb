// Makes pairs of rows from chains and the outgroup's genome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/projection/outgroup_genome.h"
#include "core/ancestry/projection/projector.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/formats/alignment/chain.h"
#include "core/genome/lengths.h"

namespace ancify {

// The longest gap in the outgroup alone that a block bridges, in bases, as in UCSC's net AXT files.
constexpr std::int64_t kLongestBridge = 100;

// Gives a pair for each ungapped block. Its focal row is N, as chains have no bases. Focal bases
// that the outgroup lacks get -, if they are few and nothing else is between two blocks; others
// have no pair. With options.insertions a pair ends with the outgroup's bases that the focal genome
// lacks, likewise.
class ChainPairs {
 public:
  // `file` is for messages. Opens the outgroup's genome, options.genomes[file]; InputError without
  // it. Bad chains go to `bad`. All arguments but `inputs` must outlive this.
  ChainPairs(const std::string& file, const std::vector<Chromosome>& chromosomes,
             const ProjectionOptions& options, const InputIdentities& inputs, BadBlocks& bad);
  ChainPairs(const ChainPairs&) = delete;
  ChainPairs& operator=(const ChainPairs&) = delete;

  // Passes the pairs of a chain to each sink.
  void project(const Chain& chain, const std::vector<PairSink*>& sinks);
  // Call it after the last chain. FileError if the genome's file has changed.
  void finish() const { genome_.check_unchanged(); }

 private:
  std::string problem_of(const Chain& chain, const Chromosome& chromosome);
  // Makes the rows of a pair: `size` bases of the query from `start` on, along its strand, and
  // `gap` gaps after them. The last `inserted` of the bases are opposite focal gaps.
  void make_rows(const ChainRange& query, std::int64_t start, std::int64_t size, std::int64_t gap,
                 std::int64_t inserted);

  BadBlocks& bad_;
  const std::vector<Chromosome>& chromosomes_;
  bool insertions_;
  ChromosomeNames wanted_;
  OutgroupGenome genome_;
  std::string row_;          // the outgroup's
  std::string unknown_;      // begins with the focal row, if that has no gap
  std::string gapped_;       // the focal row, if it has
  std::string_view target_;  // the focal row
};

}  // namespace ancify
