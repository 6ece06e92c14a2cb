// Parses rows of PAF, and checks that their steps fit their ranges.
#include "core/formats/alignment/paf.h"

#include <algorithm>
#include <array>

#include "core/formats/alignment/first_line.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::size_t kColumns = 12;
constexpr std::size_t kStrand = 4;
constexpr std::size_t kTarget = 5;
constexpr std::size_t kMatches = 9;

// Takes a field and the tab after it off a line.
std::string_view take_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(line.size(), field.size() + 1));
  return field;
}

bool is_strand(std::string_view field) { return field == "+" || field == "-"; }

// True if a field may stand in this column. A query without an alignment has the strand *.
bool fits_column(std::string_view field, std::size_t column) {
  if (column == 0 || column == kTarget) return !field.empty();
  if (column == kStrand) return is_strand(field) || field == "*";
  return parse_whole_number(field).has_value();
}

// The range in four fields, which fit their columns.
PafRange range_in(const std::string_view* fields) {
  return {fields[0], *parse_whole_number(fields[1]), *parse_whole_number(fields[2]),
          *parse_whole_number(fields[3])};
}

// The inconsistency in a range; empty if there is none.
std::string problem_of(const PafRange& range) {
  if (range.start <= range.end && range.end <= range.size) return {};
  return "the row's range " + std::to_string(range.start) + "-" + std::to_string(range.end) +
         " is not inside " + excerpt(range.name) + ", which is " + std::to_string(range.size) +
         " bases long";
}

std::string in_words(std::int64_t target, std::int64_t query) {
  return std::to_string(target) + " bases of the target and " + std::to_string(query) +
         " of the query";
}

// Takes a number off a text; empty if the text begins with none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_whole_number(text.substr(0, n));
  text.remove_prefix(n);
  return number;
}

std::string_view take_letters(std::string_view& text) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_letter);
  const auto letters = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(letters.size());
  return letters;
}

std::optional<PafStep> next_of_cigar(std::string_view& text) {
  const auto size = take_number(text);
  if (!size || text.empty()) return {};
  const char operation = text.front();
  text.remove_prefix(1);
  switch (operation) {
    case 'M':
    case '=':
    case 'X':
      return PafStep{PafStep::Kind::kAligned, *size};
    case 'I':
      return PafStep{PafStep::Kind::kInserted, *size};
    case 'D':
      return PafStep{PafStep::Kind::kDeleted, *size};
    default:
      return {};
  }
}

std::optional<PafStep> next_difference(std::string_view& text) {
  const char operation = text.front();
  text.remove_prefix(1);
  if (operation == ':') {
    const auto size = take_number(text);
    if (!size) return {};
    return PafStep{PafStep::Kind::kAligned, *size, {}, {}, true};
  }
  if (operation == '*') {
    if (text.size() < 2 || !is_letter(text[0]) || !is_letter(text[1])) return {};
    const PafStep step{PafStep::Kind::kAligned, 1, text.substr(0, 1), text.substr(1, 1)};
    text.remove_prefix(2);
    return step;
  }
  const std::string_view letters = take_letters(text);
  const auto size = static_cast<std::int64_t>(letters.size());
  if (size == 0) return {};
  switch (operation) {
    case '=':
      return PafStep{PafStep::Kind::kAligned, size, letters, letters, true};
    case '+':
      return PafStep{PafStep::Kind::kInserted, size, {}, letters};
    case '-':
      return PafStep{PafStep::Kind::kDeleted, size, letters, {}};
    default:
      return {};
  }
}

}  // namespace

std::optional<PafStep> next_step(PafSteps& steps) {
  return steps.differences ? next_difference(steps.text) : next_of_cigar(steps.text);
}

std::optional<bool> is_paf_text(std::string_view& text, bool last, std::int64_t& lines) {
  const auto first = first_line(text, last, lines);
  if (!first) return last ? std::optional(false) : std::nullopt;
  std::string_view rest = first->line;
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (!first->whole && rest.find('\t') == rest.npos) {
      return rest.size() > kLongestName ? std::optional(false) : std::nullopt;
    }
    if (!fits_column(take_field(rest), column)) return false;
  }
  return true;
}

std::size_t PafParser::longest_line() const {
  const std::string_view start = rest_.substr(0, kLongestLine);
  const auto tabs = static_cast<std::size_t>(std::count(start.begin(), start.end(), '\t'));
  return tabs >= kColumns ? longest_row_ : kLongestLine;
}

PafParser::Found PafParser::next() {
  std::string_view line;
  if (!take_line(line)) return last_ ? Found::kEnd : Found::kNeedsMoreText;
  if (line.empty() || line.front() == '#') return Found::kNothing;
  block_ = {};
  block_.line = lines_;
  const std::string problem = parse_row(line);
  if (!problem.empty()) bad_.add(lines_, problem);
  const bool is_aligned = !block_.target.name.empty();
  return problem.empty() && is_aligned ? Found::kBlock : Found::kNothing;
}

std::string PafParser::parse_row(std::string_view line) {
  std::array<std::string_view, kColumns> columns;
  for (std::size_t i = 0; i < kColumns; ++i) {
    columns[i] = take_field(line);
    if (!fits_column(columns[i], i)) {
      return "a row of PAF must have 12 columns with tabs between them: name, length, start and "
             "end of the query, its strand, name, length, start and end of the target, and three "
             "numbers; column " +
             std::to_string(i + 1) + " is " + excerpt(columns[i]);
    }
  }
  if (!is_strand(columns[kStrand])) return {};
  block_.query = range_in(columns.data());
  block_.target = range_in(&columns[kTarget]);
  block_.minus = columns[kStrand] == "-";
  for (const PafRange* range : {&block_.query, &block_.target}) {
    std::string problem = problem_of(*range);
    if (!problem.empty()) return problem;
  }
  return parse_tags(line, *parse_whole_number(columns[kMatches]));
}

std::string PafParser::parse_tags(std::string_view tags, std::int64_t matches) {
  std::string_view score;
  std::string_view type;
  std::string_view cigar;
  std::string_view differences;
  while (!tags.empty()) {
    const std::string_view field = take_field(tags);
    constexpr std::size_t name_size = 5;
    const std::string_view name = field.substr(0, name_size);
    std::string_view* const value = name == "AS:i:"   ? &score
                                    : name == "tp:A:" ? &type
                                    : name == "cg:Z:" ? &cigar
                                    : name == "cs:Z:" ? &differences
                                                      : nullptr;
    if (value != nullptr) *value = field.substr(name_size);
  }
  const auto parsed = score_(score);
  if (!parsed) return "the score AS:i: " + excerpt(score) + " is not a number";
  block_.score = score.empty() ? static_cast<double>(matches) : *parsed;
  block_.secondary = type == "S" || type == "i";
  if (block_.secondary) return {};
  block_.steps = differences.empty() ? PafSteps{cigar, false} : PafSteps{differences, true};
  if (block_.steps.text.empty()) {
    return "this row has neither cg:Z: nor cs:Z:, so its columns are unknown: run minimap2 with "
           "-c, or with --cs";
  }
  return check_steps();
}

std::string PafParser::check_steps() {
  const std::string tag = block_.steps.differences ? "cs:Z:" : "cg:Z:";
  const std::int64_t target_size = block_.target.end - block_.target.start;
  const std::int64_t query_size = block_.query.end - block_.query.start;
  std::int64_t target = 0;
  std::int64_t query = 0;
  block_.has_bases = block_.steps.differences;
  for (PafSteps rest = block_.steps; !rest.text.empty();) {
    const std::string_view before = rest.text;
    const auto step = next_step(rest);
    if (!step) {
      return tag + " cannot be read from " + excerpt(before) + " on: its operations are " +
             (rest.differences ? ":, =, *, + and -, each with its length or bases"
                               : "M, =, X, I and D, each after its length");
    }
    if (step->kind != PafStep::Kind::kInserted) target += step->size;
    if (step->kind != PafStep::Kind::kDeleted) query += step->size;
    const bool lacks_bases = step->kind == PafStep::Kind::kAligned && step->query.empty();
    if (lacks_bases && step->size > 0) block_.has_bases = false;
    if (target > target_size || query > query_size) break;
  }
  if (target == target_size && query == query_size) return {};
  return tag + " spans " + in_words(target, query) + ", but the row's ranges have " +
         in_words(target_size, query_size);
}

}  // namespace ancify
