// Makes pairs of a focal row and an outgroup's row from the blocks of a MAF or TAF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ancestry/projection/projector.h"
#include "core/ancestry/projection/query_end.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/formats/alignment/maf.h"
#include "core/genome/lengths.h"

namespace ancify {

// Finds the species of rows. A row's source is `<name>.<chromosome>`, and both may contain dots. A
// source made of the focal name and a focal chromosome is focal; otherwise the longest name that
// fits decides. Rows of other species are ignored.
//
// The order of rows does not matter. All focal rows with a focal chromosome have pairs. Of several
// rows of an outgroup, the rows with the most bases of the focal row count or, with
// Overlaps::kMissing, all. They become one row, with N where they differ.
class MafPairs {
 public:
  // `file` is for messages; `names`: the outgroups' names in the file. Blocks that are bad for all
  // outgroups go to `bad`. All arguments must outlive this.
  MafPairs(const std::string& file, const std::vector<std::string>& names,
           const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
           BadBlocks& bad);
  MafPairs(const MafPairs&) = delete;
  MafPairs& operator=(const MafPairs&) = delete;

  // True if a row of this source can be part of a pair.
  bool wants(std::string_view source) const {
    return is_known_focal(source) || species_of(source) <= n_;
  }

  // Passes each outgroup's pair to its sink and, with options.focal_row, each focal row to one more
  // sink, the last.
  void project(const MafBlock& block, const std::vector<PairSink*>& sinks);

  // FormatError if no block had a row of this outgroup.
  void throw_if_never_seen(std::size_t outgroup) const;

 private:
  // The rows of one species in a block.
  using Rows = std::vector<const MafLine*>;

  void remember_sources(const MafBlock& block);
  void find_rows(const MafBlock& block);
  bool is_known_focal(std::string_view source) const;
  // The index of an outgroup, n_ for the focal species, or n_ + 1 for any other.
  std::size_t species_of(std::string_view source) const;
  // As above, and n_ + 2 for the focal species with a focal chromosome. Fast if sources come in the
  // order of the preceding block.
  std::size_t kind_of(std::string_view source);
  std::size_t new_kind_of(std::string_view source) const;
  // The chromosome in a focal row's source.
  std::string_view chromosome_of(const MafLine& focal) const;
  // Passes on the pairs of a focal row.
  void project_row(const MafLine& focal, const Chromosome& chromosome, double score,
                   const std::vector<PairSink*>& sinks);
  // Fills in the coordinates and the focal row; false if the row is bad.
  bool begin_pair(const MafLine& focal, const Chromosome& chromosome, AlignedPair& pair);
  void project_outgroup(std::size_t outgroup, AlignedPair pair, PairSink& sink);
  // Parses and turns an outgroup's row into `pair`. Returns the problem; empty if there is none.
  std::string take_row(const MafLine& line, MafRow& row, AlignedPair& pair);
  // Takes the nearest of several rows, or what several have in common.
  std::string take_rows(const Rows& rows, AlignedPair& pair);
  std::string_view on_focal_strand(std::string_view columns, std::string& buffer) const;

  const std::string& file_;
  const std::vector<std::string> names_;
  const ProjectionOptions& options_;
  BadBlocks& bad_;
  std::size_t n_;  // outgroups
  std::string focal_prefix_;
  const std::vector<Chromosome>& chromosomes_;
  ChromosomeNames wanted_;
  ChromosomeNames focal_names_;  // including unwanted ones
  // By name: outgroups, and the focal species as n_
  std::unordered_map<std::string_view, std::size_t> numbers_;

  // Sources of rows and their kinds, in the order in which they came first, and the next one.
  struct Known {
    std::string source;
    std::size_t kind;
  };
  std::deque<Known> known_;
  std::unordered_map<std::string_view, std::size_t> places_;  // by source
  std::size_t next_known_ = 0;

  std::vector<std::string> sources_;  // the first few in the file
  int blocks_ = 0;                    // searched for sources
  std::vector<bool> seen_;
  std::vector<QueryEnd> ends_;  // of the outgroups, with options.insertions

  // Of the current block.
  Rows focal_;  // with a focal chromosome; if there is none, the first of the focal species
  std::vector<Rows> outgroups_;
  bool minus_ = false;
  bool of_columns_ = false;
  std::string focal_buffer_;
  std::string outgroup_buffer_;
  std::string common_;  // of several rows
};

}  // namespace ancify
