// Makes pairs of a focal row and an outgroup's row from the blocks of a MAF file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/projector.h"
#include "core/ancestry/projection/query_end.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/formats/alignment/maf.h"
#include "core/genome/lengths.h"

namespace ancify {

// Finds the species of rows. A row's source is `<name>.<chromosome>`, and both may contain dots. A
// source made of the focal name and a focal chromosome is focal; otherwise the longest name that
// fits decides. If a block has several rows of a species, the first counts; focal rows with a focal
// chromosome come before other focal rows. Rows of other species are ignored.
class MafPairs {
 public:
  // `file` is for messages; `names`: the outgroups' names in the file. Blocks that are bad for all
  // outgroups go to `bad`. All arguments must outlive this.
  MafPairs(const std::string& file, const std::vector<std::string>& names,
           const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
           BadBlocks& bad);
  MafPairs(const MafPairs&) = delete;
  MafPairs& operator=(const MafPairs&) = delete;

  // Passes each outgroup's pair to its sink or, with options.focal_row, each focal row to the first
  // sink.
  void project(const MafBlock& block, const std::vector<PairSink*>& sinks);

  // FormatError if no block had a row of this outgroup.
  void throw_if_never_seen(std::size_t outgroup) const;

 private:
  // The rows of one species in a block.
  struct Rows {
    const MafLine* first = nullptr;
    std::int64_t n = 0;
  };
  struct Name {
    std::string_view text;
    std::size_t species;
  };

  void remember_sources(const MafBlock& block);
  void find_rows(const MafBlock& block);
  bool is_known_focal(std::string_view source) const;
  // The number of an outgroup, n_ for the focal species, or n_ + 1 for any other.
  std::size_t species_of(std::string_view source) const;
  // Fills in the coordinates and the focal row; false if the block is bad.
  bool begin_pair(const Chromosome& chromosome, AlignedPair& pair);
  void project_outgroup(std::size_t outgroup, AlignedPair pair, PairSink& sink);
  std::string_view on_focal_strand(std::string_view columns, std::string& buffer) const;

  const std::string& file_;
  const std::vector<std::string> names_;
  const ProjectionOptions& options_;
  BadBlocks& bad_;
  std::size_t n_;  // outgroups
  std::string focal_prefix_;
  const std::vector<Chromosome>& chromosomes_;
  ChromosomeNames wanted_;
  ChromosomeNames focal_names_;                         // also those that are not wanted
  std::array<std::vector<Name>, 256> by_first_letter_;  // the longest first

  std::vector<std::string> sources_;  // the first few in the file
  int blocks_ = 0;                    // searched for sources
  std::vector<bool> seen_;
  std::vector<QueryEnd> ends_;  // of the outgroups, with options.insertions

  // Of the current block.
  Rows focal_;
  std::vector<Rows> outgroups_;
  bool minus_ = false;
  std::string focal_buffer_;
  std::string outgroup_buffer_;
};

}  // namespace ancify
