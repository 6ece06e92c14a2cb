// Parses chains, UCSC's format of pairwise alignments without bases: a header, then a line for each
// ungapped block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/formats/alignment/block_parser.h"
#include "core/formats/alignment/block_score.h"

namespace ancify {

// A range of one sequence. It counts from 0 and excludes the end. If `minus` is true, it counts
// from the end of the sequence.
struct ChainRange {
  std::string_view name;
  std::int64_t size = 0;  // of the sequence
  bool minus = false;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// An ungapped block, and the gaps of both sequences up to the next block, in bases.
struct ChainBlock {
  std::int64_t size = 0;
  std::int64_t target_gap = 0;
  std::int64_t query_gap = 0;
  bool is_last = false;
};

// One chain, valid as long as the parsed text. Its blocks fit its ranges.
struct Chain {
  double score = kNoScore;
  ChainRange target;  // on the plus strand
  ChainRange query;
  std::string_view blocks;  // their lines, the first of them after `line`
  std::int64_t line = 0;    // of its header
};

// Takes a block off a chain's lines, which must not be exhausted.
ChainBlock next_block(std::string_view& blocks);

// True if a text begins a chain file, after comments. Empty if more text is needed to decide; with
// `last` no more follows. Takes comments and empty lines off the start of the text, and adds their
// number to `lines`.
std::optional<bool> is_chain_text(std::string_view& text, bool last, std::int64_t& lines);

// A chain is valid as a whole or not at all.
class ChainParser final : public BlockParser<Chain> {
 public:
  explicit ChainParser(BadBlocks& bad, std::int64_t lines = 0)
      : BlockParser(bad, lines, kLongestLine) {}

 private:
  Found next() override;
  std::size_t longest_line() const override { return kLongestLine; }
  // Parses a header line into block_. Returns the problem; empty on success.
  std::string parse_header(std::string_view line);
  // The lines after a header.
  Found blocks();
  Found bad_chain(std::int64_t line, const std::string& problem);

  ScoreParser score_;
};

}  // namespace ancify
