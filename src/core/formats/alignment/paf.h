// Parses PAF, minimap2's format of pairwise alignments: a line for each, with its gaps in a CIGAR
// (cg:Z:), or its gaps and differing bases in a difference string (cs:Z:).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/formats/alignment/block_parser.h"
#include "core/formats/alignment/block_score.h"

namespace ancify {

// A range of one sequence, on its plus strand. It counts from 0 and excludes the end.
struct PafRange {
  std::string_view name;
  std::int64_t size = 0;  // of the sequence
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// Columns of a row along the target: aligned bases, or bases of one sequence alone. Letters that
// the text does not give are empty.
struct PafStep {
  enum class Kind { kAligned, kInserted, kDeleted };  // an insertion is in the query
  Kind kind = Kind::kAligned;
  std::int64_t size = 0;  // in columns
  std::string_view target = {};
  std::string_view query = {};
  bool equal = false;  // whether both sequences are known to have equal letters
};

// The text of a row's columns.
struct PafSteps {
  std::string_view text;
  bool differences = false;  // a difference string, not a CIGAR
};

// Takes a step off a text, which must not be exhausted; empty if the text begins with none.
std::optional<PafStep> next_step(PafSteps& steps);

// One row, valid as long as the parsed text. Its steps fit its ranges.
struct PafRow {
  PafRange query;
  PafRange target;
  bool minus = false;       // the query's strand
  double score = kNoScore;  // AS:i: or, without it, the number of matching bases
  bool secondary = false;   // another alignment of the same bases is better; without steps
  PafSteps steps;
  bool has_bases = false;  // whether its steps give all bases of both sequences
  std::int64_t line = 0;
};

// True if a text begins a PAF file, after comments. Empty if more text is needed to decide; with
// `last` no more follows. Takes comments and empty lines off the start of the text, and adds their
// number to `lines`.
std::optional<bool> is_paf_text(std::string_view& text, bool last, std::int64_t& lines);

// Skips rows of queries without an alignment.
class PafParser final : public BlockParser<PafRow> {
 public:
  explicit PafParser(BadBlocks& bad, std::int64_t lines = 0,
                     std::size_t longest_row = longest_record())
      : BlockParser(bad, lines, longest_row) {}

 private:
  Found next() override;
  std::size_t longest_line() const override;
  // Parses a row into block_. Returns the problem; empty on success.
  std::string parse_row(std::string_view line);
  // Parses the fields after the columns, likewise. `matches`: the number of matching bases.
  std::string parse_tags(std::string_view tags, std::int64_t matches);
  // Compares the steps with the ranges, likewise.
  std::string check_steps();

  ScoreParser score_;
};

}  // namespace ancify
