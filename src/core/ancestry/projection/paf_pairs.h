// Makes pairs of rows from PAF, and from the outgroup's genome if it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/outgroup_genome.h"
#include "core/ancestry/projection/projector.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/formats/alignment/paf.h"
#include "core/genome/lengths.h"

namespace ancify {

// Gives a pair for each ungapped stretch of a row. The focal bases after it that the outgroup lacks
// get -. With options.insertions the pair also has the outgroup's bases that the focal genome
// lacks.
//
// The outgroup's bases come from its genome, or else from a difference string in the long form. The
// focal row is N for a CIGAR. For a difference string it has the focal genome's bases.
class PafPairs {
 public:
  // `file` is for messages. Opens the outgroup's genome, options.genomes[file], if there is one.
  // Bad rows go to `bad`. All arguments but `inputs` must outlive this.
  PafPairs(const std::string& file, const std::vector<Chromosome>& chromosomes,
           const ProjectionOptions& options, const InputIdentities& inputs, BadBlocks& bad);
  PafPairs(const PafPairs&) = delete;
  PafPairs& operator=(const PafPairs&) = delete;

  // Passes the pairs of a row to each sink. InputError if the bases of a row are unknown.
  void project(const PafRow& row, const std::vector<PairSink*>& sinks);
  // Call it after the last row. FileError if the genome's file has changed.
  void finish() const;

 private:
  std::string problem_of(const PafRow& row, const Chromosome& chromosome);
  void throw_without_bases(const PafRow& row) const;
  void project_steps(const PafRow& row, const std::vector<PairSink*>& sinks);
  // Appends the columns of a step to the rows.
  void add(const PafStep& step);
  // True if the bases of a row equal its genome's.
  bool agrees_with_genome(const PafRow& row);
  // Replaces the outgroup's row by its genome's bases from `start` on, along the strand.
  void take_genome(bool minus, std::int64_t start);

  const std::string& file_;
  BadBlocks& bad_;
  const std::vector<Chromosome>& chromosomes_;
  bool insertions_;
  bool focal_row_;
  ChromosomeNames wanted_;
  std::optional<OutgroupGenome> genome_;
  // Of the current pair.
  std::string focal_;
  std::string outgroup_;
  std::string bases_;
};

}  // namespace ancify
