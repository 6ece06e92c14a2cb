// The pairs of rows of an alignment file, AXT or MAF, whose text comes in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/maf_pairs.h"
#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/axt.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/formats/alignment/maf.h"
#include "core/genome/lengths.h"

namespace ancify {

class AlignmentPairs {
 public:
  // `file` is for messages, `maf_names` what the outgroups' sources begin with, if it is a MAF.
  // Blocks that are bad for all go to `bad`. All but the names have to stay.
  AlignmentPairs(const std::string& file, std::vector<std::string> maf_names,
                 const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                 BadBlocks& bad);

  // As AxtParser::consume(); gives each outgroup's pairs to its sink.
  std::size_t consume(std::string_view text, bool last, const std::vector<PairSink*>& sinks);
  bool is_maf() const { return maf_.has_value(); }
  // As MafPairs has it.
  void throw_if_never_seen(std::size_t outgroup) const;

 private:
  // Takes lines off a text up to where it tells its format; false where it does not yet.
  bool choose_parser(std::string_view& text, bool last);
  std::size_t parse(std::string_view text, bool last, const std::vector<PairSink*>& sinks);

  const std::string& file_;
  std::vector<std::string> maf_names_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions& options_;
  BadBlocks& bad_;
  std::int64_t lines_before_ = 0;  // taken before the text told its format
  // One of them, when it has.
  std::optional<AxtParser> axt_;
  std::optional<MafParser> maf_;
  std::optional<MafPairs> pairs_;
};

}  // namespace ancify
