// Parses AXT, UCSC's format of pairwise alignments: a header line, the target's row, the query's
// row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/block_parser.h"
#include "core/formats/alignment/row_scan.h"

namespace ancify {

// Returns one pair per block.
class AxtParser final : public BlockParser<AlignedPair> {
 public:
  AxtParser(BadBlocks& bad, SimdLevel simd, std::int64_t lines = 0,
            std::size_t longest_row = longest_record())
      : BlockParser(bad, lines, longest_row), simd_(simd) {}

 private:
  Found next() override;
  std::size_t longest_line() const override;
  // Parses a header line into a pair without rows; empty if the line is not a header.
  std::optional<AlignedPair> parse_header(std::string_view line);
  // Takes a line off rest_; false if the line is still incomplete.
  bool take_line(std::string_view& line, RowScan& scan);

  SimdLevel simd_;
  ScoreParser score_;
  bool in_block_ = false;  // the header in block_ was read, and its rows come next
};

}  // namespace ancify
