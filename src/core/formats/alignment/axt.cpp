// Parses AXT headers and rows, and finds bad blocks.
#include "core/formats/alignment/axt.h"

#include <algorithm>
#include <string>

#include "core/io/text.h"

namespace ancify {

namespace {

// A row of a block begins with a letter or a gap.
bool may_be_row(std::string_view line) {
  return !line.empty() && (is_letter(line.front()) || line.front() == '-');
}

}  // namespace

std::optional<AlignedPair> AxtParser::parse_header(std::string_view line) {
  constexpr int fewest_fields = 8;  // the ninth, the score, may be absent
  constexpr int most_fields = 9;
  std::string_view fields[most_fields];
  int n = 0;
  for (std::string_view field = next_field(line); !field.empty(); field = next_field(line)) {
    if (n == most_fields) return {};
    fields[n++] = field;
  }
  if (n < fewest_fields) return {};
  const auto start = parse_whole_number(fields[2]);
  const auto end = parse_whole_number(fields[3]);
  const auto score = score_(fields[fewest_fields]);
  if (!start || !end || !score) return {};
  AlignedPair block;
  block.chromosome = fields[1];
  block.start = *start;
  block.end = *end;
  block.score = *score;
  return block;
}

bool AxtParser::take_line(std::string_view& line, RowScan& row) {
  const LineScan scan = scan_line(rest_, simd_);
  const bool ended = scan.newline < rest_.size();
  if (!ended && (!last_ || rest_.empty())) return false;
  line = rest_.substr(0, scan.size);
  row = scan.row;
  rest_.remove_prefix(scan.newline + (ended ? 1 : 0));
  ++lines_;
  return true;
}

std::size_t AxtParser::longest_line() const {
  if (in_block_) return std::min(longest_row_, longest_row(block_.end - block_.start + 1));
  // After a bad block a line may be one of its rows.
  return looking_for_block_ ? longest_row_ : kLongestLine;
}

AxtParser::Found AxtParser::next() {
  in_block_ = false;
  std::string_view line;
  RowScan scan;
  if (!take_line(line, scan)) return last_ ? Found::kEnd : Found::kNeedsMoreText;
  if (line.empty() || line.front() == '#') return Found::kNothing;

  const auto header = parse_header(line);
  if (!header) {
    if (!looking_for_block_) {
      const std::string problem = "not the header of an AXT block: " + excerpt(line);
      if (lines_ == 1) {
        // A file of another kind, such as a 404 error page, ends up here.
        bad_.add(lines_, problem,
                 "Alignments are AXT, MAF, TAF, chain or PAF files. Is it the right file?");
      } else {
        bad_.add(lines_, problem);
      }
    }
    looking_for_block_ = true;
    return Found::kNothing;
  }
  block_ = *header;
  block_.line = lines_;
  block_.header = line;
  in_block_ = true;

  for (std::string_view* row : {&block_.target, &block_.query}) {
    const std::string_view before = rest_;
    if (!take_line(*row, scan)) {
      if (!last_) return Found::kNeedsMoreText;
      bad_.add(block_.line, "the file ends in the middle of this block");
      looking_for_block_ = true;
      return Found::kNothing;
    }
    if (!may_be_row(*row)) {
      // The line may begin the next block, so it is parsed again.
      rest_ = before;
      --lines_;
      bad_.add(block_.line, "this block has fewer than two rows of letters");
      looking_for_block_ = true;
      return Found::kNothing;
    }
    if (row == &block_.target) block_.target_gaps = scan.gaps;
    block_.only_letters_and_gaps &= scan.only_letters_and_gaps;
  }
  looking_for_block_ = false;
  return Found::kBlock;
}

}  // namespace ancify
