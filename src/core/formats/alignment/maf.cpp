// Parses MAF, and recognises the start of a MAF file.
#include "core/formats/alignment/maf.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr char kNoType = '\0';

// The most rows of a block, more than all genomes with all their copies have.
constexpr std::size_t kMostRows = 1'000'000;

// A line's type: its first letter, if it stands alone.
char type_of(std::string_view line) {
  return line.size() == 1 || is_blank(line[1]) ? line.front() : kNoType;
}

bool is_skipped_in_block(std::string_view line) {
  const char type = type_of(line);
  return line.front() == '#' || type == 'i' || type == 'e' || type == 'q';
}

bool is_track_line(std::string_view line) {
  const std::string_view word = next_field(line);
  return word == "track" || word == "browser";
}

// True if a line that continues in further text may precede a block, or begin it.
bool may_begin_maf(std::string_view line) {
  const bool has_word = line.find_first_of(" \t") != line.npos;
  return line.empty() || line.front() == '#' || !has_word || is_track_line(line) ||
         type_of(line) == 'a';
}

// The score in an `a` line; empty if it has none.
std::string_view score_field(std::string_view line) {
  constexpr std::string_view name = "score=";
  std::string_view field = next_field(line);
  while (!field.empty() && field.substr(0, name.size()) != name) field = next_field(line);
  return field.substr(std::min(field.size(), name.size()));
}

// parse_whole_number(next_field(text)), reading each character once.
std::optional<std::int64_t> next_whole_number(std::string_view& text) {
  constexpr std::ptrdiff_t most_digits = 18;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && is_blank(*at)) ++at;
  const char* const begin = at;
  std::uint64_t value = 0;
  for (; at < end && static_cast<unsigned char>(*at - '0') < 10; ++at) {
    value = value * 10 + static_cast<unsigned char>(*at - '0');
  }
  const std::ptrdiff_t digits = at - begin;
  const bool is_number = digits > 0 && digits <= most_digits && (at == end || is_blank(*at));
  while (at < end && !is_blank(*at)) ++at;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  if (!is_number) return {};
  return static_cast<std::int64_t>(value);
}

// True if the last line of a file, which has no newline, is a complete row.
bool is_whole_row(const MafLine& line) {
  const auto row = parse_maf_row(line);
  return row && row->size == std::count_if(row->columns.begin(), row->columns.end(), is_letter);
}

}  // namespace

std::optional<MafRow> parse_maf_row(const MafLine& line) {
  if (line.row != nullptr) return *line.row;
  std::string_view rest = line.fields;
  const auto start = next_whole_number(rest);
  const auto size = next_whole_number(rest);
  const std::string_view strand = next_field(rest);
  const auto source_size = next_whole_number(rest);
  if (!start || !size || !source_size || rest.empty()) return {};
  if (strand != "+" && strand != "-") return {};
  while (is_blank(rest.front())) rest.remove_prefix(1);
  return MafRow{*start, *size, strand == "-", *source_size, rest};
}

std::optional<bool> is_maf_text(std::string_view& text, bool last, std::int64_t& lines) {
  std::string_view rest = text;
  bool only_nothing = true;  // no track line so far, which would be a bad line in AXT
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    const std::string_view line = trim_end(rest.substr(0, newline));
    const bool whole = newline != rest.npos || last;
    // Such a line is not MAF, so its end does not matter.
    if (!line.empty() && std::string_view("#atb").find(line.front()) == line.npos) return false;
    if (!whole) return may_begin_maf(line) ? std::nullopt : std::optional(false);
    constexpr std::string_view mark = "##maf";
    if (line.substr(0, mark.size()) == mark) return true;
    if (!line.empty() && line.front() != '#') {
      if (!is_track_line(line)) return type_of(line) == 'a';
      only_nothing = false;
    }
    rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
    if (only_nothing) {
      text = rest;
      ++lines;
    }
  }
  if (last) return false;
  return {};
}

MafParser::Found MafParser::bad_line(const std::string& problem) {
  if (!looking_for_block_) bad_.add(lines_, problem);
  looking_for_block_ = true;
  return Found::kNothing;
}

std::size_t MafParser::longest_line() const {
  return rest_.substr(0, 1) == "#" ? kLongestLine : longest_row_;
}

MafParser::Found MafParser::next() {
  std::string_view line;
  if (!take_line(line)) return last_ ? Found::kEnd : Found::kNeedsMoreText;
  if (line.empty() || is_skipped_in_block(line) || is_track_line(line)) return Found::kNothing;
  switch (type_of(line)) {
    case 'a':
      return rows(line);
    case 's':
      return bad_line("a row outside a block (a block begins with an 'a' line): " + excerpt(line));
    default:
      return bad_line("not a line of a MAF file: " + excerpt(line));
  }
}

MafParser::Found MafParser::rows(std::string_view a_line) {
  block_.line = lines_;
  const auto score = score_(score_field(a_line));
  if (!score) {
    looking_for_block_ = false;
    return bad_line("the block's score " + excerpt(score_field(a_line)) + " is not a number");
  }
  block_.score = *score;
  block_.rows.clear();
  for (;;) {
    const std::string_view before = rest_;
    std::string_view line;
    if (!take_line(line)) {
      if (!last_) return Found::kNeedsMoreText;
      break;
    }
    if (line.empty()) break;
    if (is_skipped_in_block(line)) continue;
    const char type = type_of(line);
    if (type == 'a') {
      put_back(before);
      break;
    }
    if (type != 's') {
      looking_for_block_ = false;
      return bad_line("not a line of a MAF block: " + excerpt(line));
    }
    if (block_.rows.size() == kMostRows) {
      throw FormatError(bad_.file(), block_.line,
                        "this block has more than " + std::to_string(kMostRows) + " rows");
    }
    line.remove_prefix(1);
    const std::string_view source = next_field(line);
    block_.rows.push_back({source, line, lines_});
    if (!ended_ && !is_whole_row(block_.rows.back())) {
      looking_for_block_ = false;
      return bad_line("the file ends in the middle of this row: it was cut short");
    }
  }
  looking_for_block_ = false;
  return Found::kBlock;
}

}  // namespace ancify
