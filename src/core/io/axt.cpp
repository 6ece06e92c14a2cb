#include "core/io/axt.h"

#include <string>

namespace ancify {

namespace {

// What begins with neither a letter nor a gap is no row of a block.
bool may_be_row(std::string_view line) {
  return !line.empty() && (is_letter(line.front()) || line.front() == '-');
}

}  // namespace

std::optional<AxtBlock> parse_axt_header(std::string_view line) {
  constexpr int fewest_fields = 8;  // the score, the ninth, may be absent
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
  if (!start || !end) return {};
  AxtBlock block;
  block.chromosome = fields[1];
  block.start = *start;
  block.end = *end;
  return block;
}

bool AxtParser::take_line(bool last, std::string_view& line) {
  const std::size_t newline = rest_.find('\n');
  if (newline == rest_.npos && (!last || rest_.empty())) return false;
  line = trim_end(rest_.substr(0, newline));
  rest_.remove_prefix(newline == rest_.npos ? rest_.size() : newline + 1);
  ++lines_;
  return true;
}

AxtParser::Found AxtParser::next(bool last, AxtBlock& block) {
  std::string_view line;
  if (!take_line(last, line)) return last ? Found::kEnd : Found::kNeedsMoreText;
  if (line.empty() || line.front() == '#') return Found::kNothing;

  const auto header = parse_axt_header(line);
  if (!header) {
    if (!looking_for_header_) bad_.add(lines_, "not the header of an AXT block: " + excerpt(line));
    looking_for_header_ = true;
    return Found::kNothing;
  }
  block = *header;
  block.line = lines_;

  for (std::string_view* row : {&block.focal, &block.outgroup}) {
    const std::string_view before = rest_;
    if (!take_line(last, *row)) {
      if (!last) return Found::kNeedsMoreText;
      bad_.add(block.line, "the file ends in the middle of this block");
      looking_for_header_ = true;
      return Found::kNothing;
    }
    if (!may_be_row(*row)) {
      // The line may begin the next block, so it is looked at again.
      rest_ = before;
      --lines_;
      bad_.add(block.line, "this block has fewer than two rows of letters");
      looking_for_header_ = true;
      return Found::kNothing;
    }
  }
  looking_for_header_ = false;
  return Found::kBlock;
}

}  // namespace ancify
