// Parses MAF, UCSC's format of multiple alignments: blocks of an `a` line and an `s` line per row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/alignment/block_parser.h"
#include "core/formats/alignment/block_score.h"

namespace ancify {

// The fields of an `s` line. If `minus` is true, start counts from the end of the sequence.
struct MafRow {
  std::int64_t start = 0;  // counts from 0
  std::int64_t size = 0;   // bases
  bool minus = false;
  std::int64_t source_size = 0;
  std::string_view columns;  // the bases and gaps
};

// An `s` line, parsed only up to its source, as most rows belong to unwanted species.
struct MafLine {
  std::string_view source;
  std::string_view fields;  // all fields after the source, without trailing blanks
  std::int64_t line = 0;
  const MafRow* row = nullptr;  // instead of `fields`, for a row from another format
  bool wanted = true;           // false if its species is known not to be wanted
};

// Parses an `s` line; empty if it is malformed.
std::optional<MafRow> parse_maf_row(const MafLine& line);

// One block, valid as long as the parsed text.
struct MafBlock {
  std::vector<MafLine> rows;
  std::int64_t line = 0;  // of its `a` line
  double score = kNoScore;
  // True if the lines of its file are columns. Then its rows share a line, and may lack bases.
  bool of_columns = false;
};

// True if a text begins a MAF file: with `##maf`, or with a block after comments and track lines.
// Empty if more text is needed to decide; with `last` no more follows. Takes comments and empty
// lines off the start of the text, and adds their number to `lines`.
std::optional<bool> is_maf_text(std::string_view& text, bool last, std::int64_t& lines);

// Skips `i`, `e` and `q` lines, comments and track lines.
class MafParser final : public BlockParser<MafBlock> {
 public:
  explicit MafParser(BadBlocks& bad, std::int64_t lines = 0,
                     std::size_t longest_row = longest_record())
      : BlockParser(bad, lines, longest_row) {}

 private:
  Found next() override;
  std::size_t longest_line() const override;
  // The lines after the `a` line.
  Found rows(std::string_view a_line);
  Found bad_line(const std::string& problem);

  ScoreParser score_;
};

}  // namespace ancify
