// UCSC's MAF, multiple alignments: blocks of an `a` line and `s` lines, one a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/alignment/block_parser.h"

namespace ancify {

// An `s` line, not looked into behind its source: most rows are of species nobody asked for.
struct MafLine {
  std::string_view source;
  std::string_view fields;  // all behind the source, without blanks at the end
  std::int64_t line = 0;
};

// What an `s` line says. Where `minus` is true, start counts from the sequence's other end.
struct MafRow {
  std::int64_t start = 0;  // counts from 0
  std::int64_t size = 0;   // bases
  bool minus = false;
  std::int64_t source_size = 0;
  std::string_view columns;  // all that is left of the line
};

std::optional<MafRow> parse_maf_row(const MafLine& line);

// One block, valid while the text it was parsed from is.
struct MafBlock {
  std::vector<MafLine> rows;
  std::int64_t line = 0;  // of its `a` line
};

// Whether a text begins a MAF file: with `##maf`, or a block behind comments and track lines. None
// where that cannot be told yet; with `last` there is no more text. Comments and empty lines at its
// beginning are taken off the text, and `lines` counts them.
std::optional<bool> is_maf_text(std::string_view& text, bool last, std::int64_t& lines);

// `i`, `e` and `q` lines, comments and track lines are skipped.
class MafParser final : public BlockParser<MafBlock> {
 public:
  explicit MafParser(BadBlocks& bad, std::int64_t lines = 0,
                     std::size_t longest_row = longest_record())
      : BlockParser(bad, lines, longest_row) {}

 private:
  Found next() override;
  std::size_t longest_line() const override;
  Found rows();
  Found bad_line(const std::string& problem);
  // Takes a line off rest_; false where its end has not come yet.
  bool take_line(std::string_view& line);
  void put_back(std::string_view rest);

  bool ended_ = true;  // the line taken last, by a newline
};

}  // namespace ancify
