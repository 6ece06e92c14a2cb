// Parses TAF, follows its rows from column to column, and gathers columns into rows.
#include "core/formats/alignment/taf.h"

#include <algorithm>
#include <cstring>

#include "core/exec/errors.h"
#include "core/formats/alignment/row_scan.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::string_view kMark = "#taf";

// The most rows of a column, more than all genomes with all their copies have.
constexpr std::size_t kMostColumnRows = 100'000;
// The longest line, in bytes: these rows and their coordinates.
constexpr std::size_t kLongestColumn = std::size_t{1} << 24;
// The most bases and gaps of a block.
constexpr std::size_t kMostCells = std::size_t{1} << 26;
// Columns that become parts of rows together, so that few lines of the cache hold them.
constexpr std::size_t kTileColumns = 64;
// Most runs of bases are shorter.
constexpr std::size_t kShortRun = 16;
// A position beyond all sequences. Positions stop here, so that they cannot overflow.
constexpr std::int64_t kFarthest = 1'000'000'000'000'000'000;

bool is_mark(std::string_view line) {
  return line.substr(0, kMark.size()) == kMark &&
         (line.size() == kMark.size() || is_blank(line[kMark.size()]));
}

// The first rows of a block, which messages name.
constexpr std::size_t kNamedRows = 100;

// Takes a run, such as `A 12`, and the blanks behind it off a text. Returns its length; 0 if there
// is no run.
std::size_t take_run(std::string_view& runs) {
  // Most runs have fewer than 10 bases and one blank at each place.
  if (runs.size() > 4 && runs[1] == ' ' && runs[2] > '0' && runs[2] <= '9' && runs[3] == ' ' &&
      !is_blank(runs[4])) {
    const auto n = static_cast<std::size_t>(runs[2] - '0');
    runs.remove_prefix(4);
    return n;
  }
  const char* at = runs.data() + 1;
  const char* const end = runs.data() + runs.size();
  const auto skip_blanks = [&] {
    const char* const before = at;
    while (at < end && is_blank(*at)) ++at;
    return at > before || at == end;
  };
  if (!skip_blanks()) return 0;
  std::size_t n = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) {
    n = std::min(10 * n + static_cast<std::size_t>(*at - '0'), kLongestColumn);
  }
  if (n == 0 || !skip_blanks()) return 0;
  runs.remove_prefix(static_cast<std::size_t>(at - runs.data()));
  return n;
}

// Writes a run. There must be space for kShortRun, as short runs take no loop.
void fill_run(char* out, char base, std::size_t n) {
  std::memset(out, base, kShortRun);
  if (n > kShortRun) std::memset(out + kShortRun, base, n - kShortRun);
}

std::string other_number(std::size_t bases, std::size_t rows) {
  return "this column of TAF has " + std::to_string(bases) + " bases" +
         ", but the number of rows is " + std::to_string(rows);
}

}  // namespace

// Only the first line of a file is the mark, so lines removed by other formats exclude it.
std::optional<bool> is_taf_text(std::string_view& text, bool last, std::int64_t& lines) {
  if (lines > 0) return false;
  const std::size_t newline = text.find('\n');
  const std::string_view line = trim_end(text.substr(0, newline));
  const bool whole = newline != text.npos || last;
  if (whole || line.size() > kMark.size()) return is_mark(line);
  if (line != kMark.substr(0, line.size())) return false;
  return {};
}

std::size_t TafParser::longest_line() const {
  return rest_.substr(0, 1) == "#" ? kLongestLine : kLongestColumn;
}

TafParser::Found TafParser::next() {
  for (bool any = false;; any = true) {
    const std::string_view before = rest_;
    std::string_view line;
    if (!take_line(line)) {
      if (any) return Found::kNothing;
      if (!last_) return Found::kNeedsMoreText;
      if (columns_ + in_tile_ == 0) return Found::kEnd;
      return make_block() ? Found::kBlock : Found::kNothing;
    }
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) continue;
    if (!has_header_) {
      take_header(line);
    } else if (line.front() != '#' && take_column(line, before)) {
      return Found::kBlock;
    }
  }
}

void TafParser::take_header(std::string_view line) {
  if (!is_mark(line)) {
    throw FormatError(bad_.file(), lines_, "a TAF file begins with #taf, not " + excerpt(line));
  }
  has_header_ = true;
  line.remove_prefix(kMark.size());
  for (auto tag = next_field(line); !tag.empty(); tag = next_field(line)) {
    if (tag == "run_length_encode_bases:1") has_runs_ = true;
    const bool is_bad = tag.substr(0, tag.find(':')) == "version"
                            ? tag != "version:1"
                            : tag.substr(0, tag.find(':')) == "run_length_encode_bases" &&
                                  !has_runs_ && tag != "run_length_encode_bases:0";
    if (is_bad) {
      throw FormatError(bad_.file(), lines_,
                        "the tag " + excerpt(tag) +
                            " in the header is not known: only version 1 of TAF is read, with "
                            "run_length_encode_bases 0 or 1");
    }
  }
}

bool TafParser::take_column(std::string_view line, std::string_view before) {
  const bool bases_alone =
      !has_runs_ && line.find(' ') == line.npos && line.find('\t') == line.npos;
  const std::size_t semicolon = bases_alone ? line.npos : line.find(';');
  const std::size_t mark = bases_alone ? line.npos : std::min(semicolon, line.find('@'));
  if (mark != line.npos && mark == semicolon) {
    if (columns_ + in_tile_ > 0) {
      put_back(before);
      return make_block();
    }
    if (!ended_) {
      bad_column("the file ends right behind coordinates, without a newline: it was cut short",
                 lines_);
      return false;
    }
    change_rows(line.substr(mark + 1));
    if (bad_line_ > 0 && !knows_positions()) return false;
  } else if (bad_line_ > 0) {
    return false;
  }
  const std::string problem = add_bases(trim_end(line.substr(0, mark)));
  if (!problem.empty()) {
    bad_column(problem, lines_);
    return false;
  }
  if (columns_ + in_tile_ == 1) first_line_ = lines_;
  if (in_tile_ == kTileColumns) gather_tile();
  if (columns_ + in_tile_ < most_columns_) return false;
  return make_block();
}

std::string TafParser::add_bases(std::string_view bases) {
  prepare_rows();
  char* const column = &tile_[in_tile_ * rows_.size()];
  if (has_runs_) {
    std::string problem = expand_runs(bases, column);
    if (!problem.empty()) return problem;
  } else {
    if (bases.find(' ') != bases.npos || bases.find('\t') != bases.npos) {
      return "the bases of a column are one word, but here stands " + excerpt(bases);
    }
    if (bases.size() != rows_.size()) return other_number(bases.size(), rows_.size());
    std::copy(bases.begin(), bases.end(), column);
  }
  ++in_tile_;
  return {};
}

std::string TafParser::expand_runs(std::string_view runs, char* column) {
  const std::size_t rows = rows_.size();
  std::size_t bases = 0;
  while (!runs.empty()) {
    const char base = runs.front();
    const std::size_t n = take_run(runs);
    if (n == 0) return "this is not a base and the length of its run: " + excerpt(runs);
    if (bases + n <= rows) fill_run(column + bases, base, n);
    bases += n;
  }
  return bases == rows ? std::string() : other_number(bases, rows);
}

void TafParser::change_rows(std::string_view changes) {
  if (bad_line_ > 0) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].known = false;
  }
  for (;;) {
    const std::string_view operation = next_field(changes);
    if (operation.empty() || operation.front() == '@') return;
    if (operation.size() > 1 || std::string_view("idsgG").find(operation) == operation.npos) {
      bad_change(excerpt(operation) + " is none of the operations i, d, s, g and G");
    }
    change_row(operation.front(), changes);
  }
}

void TafParser::change_row(char operation, std::string_view& changes) {
  const std::string_view number = next_change(changes, "a row");
  const auto row = parse_whole_number(number);
  const std::size_t end = rows_.size() + (operation == 'i' ? 1 : 0);
  if (!row || static_cast<std::size_t>(*row) >= end) {
    bad_change(std::string("the operation ") + operation + " has the row " + excerpt(number) +
               ", but the number of rows, counted from 0, is " + std::to_string(rows_.size()));
  }
  const auto i = static_cast<std::size_t>(*row);
  if (operation == 'i') {
    if (rows_.size() == kMostColumnRows) {
      bad_change("there are more than " + std::to_string(kMostColumnRows) + " rows");
    }
    rows_changed_ = true;
    set_coordinates(rows_.insert(i), changes);
  } else if (operation == 'd') {
    rows_changed_ = true;
    rows_.remove(i);
  } else if (operation == 's') {
    set_coordinates(rows_[i], changes);
  } else if (operation == 'G') {
    const auto gap = next_change(changes, "the bases of a gap");
    advance(rows_[i], static_cast<std::int64_t>(gap.size()));
  } else {
    const std::string_view gap = next_change(changes, "the length of a gap");
    const auto length = parse_whole_number(gap);
    if (!length) bad_change("the length of a gap is " + excerpt(gap) + ", not a whole number");
    advance(rows_[i], *length);
  }
}

void TafParser::set_coordinates(Row& row, std::string_view& changes) {
  const std::string_view source = next_change(changes, "the name of a sequence");
  const std::string_view start = next_change(changes, "a position");
  const std::string_view strand = next_change(changes, "a strand");
  const std::string_view size = next_change(changes, "the length of a sequence");
  const auto start_number = parse_whole_number(start);
  const auto size_number = parse_whole_number(size);
  if (!start_number || !size_number || (strand != "+" && strand != "-")) {
    bad_change("the position, strand and length of " + excerpt(source) + " are " + excerpt(start) +
               ", " + excerpt(strand) + " and " + excerpt(size));
  }
  if (source.size() > kLongestName) bad_change("a sequence's name is too long: " + excerpt(source));
  if (source != row.source) {
    row.source = source;
    row.wanted = is_wanted_(source);
    rows_changed_ = true;
  }
  row.now = {*start_number, 0, strand == "-", *size_number, {}};
  row.known = true;
}

void TafParser::advance(Row& row, std::int64_t bases) {
  row.now.start = std::min(row.now.start + bases, kFarthest);
}

std::string_view TafParser::next_change(std::string_view& changes, const char* what) {
  const std::string_view field = next_field(changes);
  if (field.empty()) bad_change(std::string("the line ends where ") + what + " must stand");
  return field;
}

void TafParser::bad_change(const std::string& problem) const {
  throw FormatError(bad_.file(), lines_,
                    problem +
                        ". All rows after it depend on this change, so on_bad_block cannot "
                        "skip it. Mend the file");
}

void TafParser::bad_column(const std::string& problem, std::int64_t line) {
  bad_.add(line, problem);
  bad_line_ = line;
  columns_ = in_tile_ = 0;
}

bool TafParser::knows_positions() {
  prepare_rows();
  const auto unknown =
      std::find_if(wanted_.begin(), wanted_.end(), [&](std::size_t i) { return !rows_[i].known; });
  if (unknown == wanted_.end()) {
    bad_line_ = 0;
    return true;
  }
  bad_.add(lines_, "the position of " + excerpt(rows_[*unknown].source) +
                       " is not known after the bad column in line " + std::to_string(bad_line_));
  return false;
}

void TafParser::prepare_rows() {
  if (!rows_changed_) return;
  rows_changed_ = false;
  wanted_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].wanted) wanted_.push_back(i);
  }
  tile_.resize(std::max(tile_.size(), kTileColumns * rows_.size() + kShortRun));
  // Does not depend on the wanted rows, so neither do the blocks.
  most_columns_ =
      std::clamp(kMostCells / std::max<std::size_t>(rows_.size(), 1), kTileColumns, kMostColumns);
}

void TafParser::gather_tile() {
  const std::size_t rows = rows_.size();
  for (const std::size_t i : wanted_) {
    std::string& columns = rows_[i].columns;
    if (columns.size() < columns_ + in_tile_) {
      columns.resize(std::max(2 * columns.size(), columns_ + kTileColumns));
    }
    char* const out = &columns[columns_];
    const char* const from = &tile_[i];
    for (std::size_t c = 0; c < in_tile_; ++c) out[c] = from[c * rows];
  }
  columns_ += in_tile_;
  in_tile_ = 0;
}

bool TafParser::make_block() {
  gather_tile();
  block_.line = first_line_;
  block_.of_columns = true;
  block_.rows.clear();
  parsed_.clear();
  parsed_.reserve(wanted_.size());  // so that its elements stay in place
  // Rows that are not wanted serve messages, which name a few. A block may have one column and
  // thousands of rows, so its rows are not gone through.
  const std::size_t named = std::min(kNamedRows, rows_.size());
  for (std::size_t i = 0; i < named; ++i) {
    if (!add_row(rows_[i])) return false;
  }
  for (auto i = std::lower_bound(wanted_.begin(), wanted_.end(), named); i != wanted_.end(); ++i) {
    if (!add_row(rows_[*i])) return false;
  }
  columns_ = 0;
  return true;
}

bool TafParser::add_row(Row& row) {
  block_.rows.push_back({row.source, {}, first_line_, nullptr, row.wanted});
  if (!row.wanted) return true;
  MafRow& parsed = parsed_.emplace_back(row.now);
  parsed.columns = std::string_view(row.columns).substr(0, columns_);
  const RowScan scan = scan_row(parsed.columns, simd_);
  if (!scan.only_letters_and_gaps) {
    bad_row(row.source, parsed.columns);
    return false;
  }
  parsed.size = static_cast<std::int64_t>(columns_) - scan.gaps;
  block_.rows.back().row = &parsed;
  advance(row, parsed.size);
  return true;
}

void TafParser::bad_row(const std::string& source, std::string_view columns) {
  std::size_t bad = 0;
  while (scan_row(columns.substr(bad, 1), simd_).only_letters_and_gaps) ++bad;
  bad_column("the row of " + excerpt(source) + " in the block that begins here has " +
                 excerpt(columns.substr(bad, 1)) + ", but only letters and - may stand there",
             first_line_);
}

}  // namespace ancify
