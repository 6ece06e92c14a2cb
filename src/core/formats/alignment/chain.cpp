// Parses chains, and checks that their blocks fit their headers.
#include "core/formats/alignment/chain.h"

#include <algorithm>
#include <array>

#include "core/formats/alignment/first_line.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::string_view kWord = "chain";

bool is_header(std::string_view line) {
  return line.substr(0, kWord.size()) == kWord && next_field(line) == kWord;
}

// The range in five fields; empty if they do not form one.
std::optional<ChainRange> parse_range(const std::string_view* fields) {
  const auto size = parse_whole_number(fields[1]);
  const std::string_view strand = fields[2];
  const auto start = parse_whole_number(fields[3]);
  const auto end = parse_whole_number(fields[4]);
  if (!size || !start || !end || (strand != "+" && strand != "-")) return {};
  return ChainRange{fields[0], *size, strand == "-", *start, *end};
}

// The inconsistency in a range; empty if there is none.
std::string problem_of(const ChainRange& range) {
  if (range.start <= range.end && range.end <= range.size) return {};
  return "the chain's range " + std::to_string(range.start) + "-" + std::to_string(range.end) +
         " is not inside " + excerpt(range.name) + ", which is " + std::to_string(range.size) +
         " bases long";
}

std::optional<ChainBlock> parse_block(std::string_view line) {
  const auto size = parse_whole_number(next_field(line));
  const std::string_view target_gap = next_field(line);
  if (!size) return {};
  if (target_gap.empty()) return ChainBlock{*size, 0, 0, true};
  const auto target = parse_whole_number(target_gap);
  const auto query = parse_whole_number(next_field(line));
  if (!target || !query || !next_field(line).empty()) return {};
  return ChainBlock{*size, *target, *query, false};
}

std::string where(std::int64_t target, std::int64_t query) {
  return std::to_string(target) + " in the target and " + std::to_string(query) + " in the query";
}

}  // namespace

ChainBlock next_block(std::string_view& blocks) {
  const std::size_t newline = std::min(blocks.find('\n'), blocks.size());
  const auto block = parse_block(trim_end(blocks.substr(0, newline)));
  blocks.remove_prefix(std::min(newline + 1, blocks.size()));
  return block.value();
}

std::optional<bool> is_chain_text(std::string_view& text, bool last, std::int64_t& lines) {
  const auto first = first_line(text, last, lines);
  if (!first) return last ? std::optional(false) : std::nullopt;
  if (first->whole) return is_header(first->line);
  const std::size_t n = std::min(first->line.size(), kWord.size());
  if (first->line.substr(0, n) != kWord.substr(0, n)) return false;
  if (first->line.size() > n && !is_header(first->line)) return false;
  return {};
}

ChainParser::Found ChainParser::bad_chain(std::int64_t line, const std::string& problem) {
  bad_.add(line, problem);
  looking_for_block_ = true;
  return Found::kNothing;
}

std::string ChainParser::parse_header(std::string_view line) {
  constexpr std::size_t fewest_fields = 12;  // the thirteenth, the id, may be absent
  std::array<std::string_view, fewest_fields + 1> fields;
  for (auto& field : fields) field = next_field(line);
  const auto target = parse_range(&fields[2]);
  const auto query = parse_range(&fields[7]);
  if (!target || !query || !next_field(line).empty()) {
    return "a chain's header must be: chain, score, then name, size, strand, start and end of the "
           "target and of the query, and an id";
  }
  if (target->minus) return "the target's strand is -, but it must be + in a chain";
  const auto score = score_(fields[1]);
  if (!score) return "the chain's score " + excerpt(fields[1]) + " is not a number";
  block_.score = *score;
  block_.target = *target;
  block_.query = *query;
  const std::string problem = problem_of(*target);
  return problem.empty() ? problem_of(*query) : problem;
}

ChainParser::Found ChainParser::next() {
  std::string_view line;
  if (!take_line(line)) return last_ ? Found::kEnd : Found::kNeedsMoreText;
  if (line.empty() || line.front() == '#') return Found::kNothing;
  if (!is_header(line)) {
    if (looking_for_block_) return Found::kNothing;
    return bad_chain(lines_, "not the header of a chain: " + excerpt(line));
  }
  block_.line = lines_;
  const std::string problem = parse_header(line);
  if (!problem.empty()) return bad_chain(lines_, problem);
  return blocks();
}

ChainParser::Found ChainParser::blocks() {
  const std::string_view text = rest_;
  std::int64_t target = block_.target.start;
  std::int64_t query = block_.query.start;
  for (ChainBlock block; !block.is_last;) {
    const std::string_view before = rest_;
    std::string_view line;
    if (!take_line(line)) {
      if (!last_) return Found::kNeedsMoreText;
      return bad_chain(block_.line, "the file ends in the middle of this chain");
    }
    if (line.empty() || is_header(line)) {
      put_back(before);
      return bad_chain(block_.line, "this chain does not end with a line of one number");
    }
    const auto parsed = parse_block(line);
    if (!parsed) {
      return bad_chain(lines_,
                       "not a block of a chain (a size, and two gaps unless it is the "
                       "last): " +
                           excerpt(line));
    }
    block = *parsed;
    target += block.size + block.target_gap;
    query += block.size + block.query_gap;
    if (target > block_.target.end || query > block_.query.end) {
      return bad_chain(lines_, "the chain's blocks reach " + where(target, query) +
                                   ", but its header ends at " +
                                   where(block_.target.end, block_.query.end));
    }
  }
  if (target < block_.target.end || query < block_.query.end) {
    return bad_chain(block_.line, "the chain's blocks end at " + where(target, query) +
                                      ", but its header says " +
                                      where(block_.target.end, block_.query.end));
  }
  block_.blocks = text.substr(0, text.size() - rest_.size());
  looking_for_block_ = false;
  return Found::kBlock;
}

}  // namespace ancify
