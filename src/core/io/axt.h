// UCSC's AXT format of pairwise alignments: a header line, the focal row, the outgroup row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/io/aligned_pair.h"
#include "core/io/bad_blocks.h"
#include "core/io/record_size.h"
#include "core/io/row_scan.h"

namespace ancify {

// A pair without its rows, if the line is a header.
std::optional<AlignedPair> parse_axt_header(std::string_view line);

// Parses text that comes in pieces. Blocks whose structure is broken go to `bad`; reading goes on
// at the next line that looks like a header.
class AxtParser {
 public:
  // `lines`: those before the text.
  AxtParser(BadBlocks& bad, SimdLevel simd, std::int64_t lines = 0)
      : bad_(bad), simd_(simd), lines_(lines) {}

  // Calls sink(const AlignedPair&) for every whole block that `text` begins with and returns the
  // bytes used; with `last`, text ends here and all is used.
  template <class Sink>
  std::size_t consume(std::string_view text, bool last, Sink&& sink) {
    rest_ = text;
    for (;;) {
      const std::string_view before = rest_;
      const std::int64_t line_before = lines_;
      AlignedPair block;
      const Found found = next(last, block);
      if (found == Found::kBlock) {
        sink(block);
      } else if (found == Found::kNeedsMoreText) {
        lines_ = line_before;
        check_record_size(before.size(), bad_.file(), lines_ + 1);
        return text.size() - before.size();
      } else if (found == Found::kEnd) {
        return text.size();
      }
    }
  }

 private:
  enum class Found { kBlock, kNothing, kNeedsMoreText, kEnd };

  Found next(bool last, AlignedPair& block);
  // Takes a line off rest_; false where its end has not come yet.
  bool take_line(bool last, std::string_view& line, RowScan& scan);

  BadBlocks& bad_;
  SimdLevel simd_;
  std::string_view rest_;
  std::int64_t lines_;               // taken so far
  bool looking_for_header_ = false;  // behind a bad block
};

}  // namespace ancify
