// Fuzzes tables of words and of numbers: a slow, plain reader agrees, in values or in failing.
#include "core/io/rows.h"

#include <algorithm>
#include <optional>

#include "core/io/number_parser.h"
#include "core/io/text.h"
#include "harness.h"
#include "plain_rows.h"

namespace ancify::fuzz {

namespace {

constexpr std::size_t kLeast = 2;
constexpr std::size_t kMost = 3;

bool of_one_width(const std::vector<Row>& rows) {
  return rows.empty() || all_have_width(rows, rows[0].size());
}

// The fields of all lines that have any, between commas; empty if quotes do not match.
std::optional<std::vector<Row>> rows_at_commas(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    Row row = {""};
    enum { kBefore, kPlain, kQuoted, kAfter } state = kBefore;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const bool is_gap = c == ' ' || c == '\t';
      if (state == kQuoted) {
        if (c != '"') {
          row.back() += c;
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          row.back() += line[++i];
        } else {
          state = kAfter;
        }
      } else if (c == ',') {
        if (state == kPlain) row.back().erase(row.back().find_last_not_of(" \t\r") + 1);
        row.emplace_back();
        state = kBefore;
      } else if (state == kAfter) {
        if (!is_gap) return {};
      } else if (state == kBefore && c == '"') {
        state = kQuoted;
      } else if (state == kPlain || !is_gap) {
        row.back() += c;
        state = kPlain;
      }
    }
    if (state == kQuoted) return {};
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> rows_at(Separator separator, const std::string& text, bool& matches) {
  if (separator == Separator::kBlanks) return rows_of(text);
  auto rows = rows_at_commas(text);
  matches = rows.has_value();
  return rows.value_or(std::vector<Row>());
}

bool has_comments(Separator separator) { return separator == Separator::kBlanks; }

std::string words_slowly(Separator separator, const std::string& text) {
  bool matches = true;
  auto rows = rows_at(separator, text, matches);
  if (!matches) return {};
  if (has_comments(separator)) {
    const auto is_comment = [](const Row& row) { return row[0][0] == '#'; };
    rows.erase(std::remove_if(rows.begin(), rows.end(), is_comment), rows.end());
  }
  if (!rows.empty() && rows[0].size() >= 2 && rows[0][0] == "variant" && rows[0][1] == "component")
    rows.erase(rows.begin());
  if (!of_one_width(rows)) return {};
  if (!rows.empty() && (rows[0].size() < kLeast || rows[0].size() > kMost)) return {};
  std::string table = "words\n";
  for (const auto& row : rows) {
    for (const std::string& word : row) table += word + " ";
    table += "\n";
  }
  return table;
}

std::string numbers_slowly(Separator separator, const std::string& text) {
  bool matches = true;
  const auto rows = rows_at(separator, text, matches);
  if (!matches || !of_one_width(rows)) return {};
  std::string table = "numbers\n";
  NumberParser parse;
  for (const auto& row : rows) {
    for (const std::string& word : row) {
      const auto value = parse(word);
      if (!value) return {};
      table += number_text(*value) + " ";
    }
    table += "\n";
  }
  return table;
}

std::string words_in(Separator separator, const std::string& path) {
  return outcome([&] {
    const WordRows rows = {
        kLeast, kMost, {"variant", "component"}, separator, has_comments(separator)};
    const WordTable read = read_words(path, rows, TaskContext());
    std::string table = "words\n";
    for (std::size_t i = 0; i < read.lines.size(); ++i) {
      for (const TextColumn& column : read.columns) table += std::string(column[i]) + " ";
      table += "\n";
    }
    return table;
  });
}

std::string numbers_in(Separator separator, const std::string& path) {
  return outcome([&] {
    const NumberTable read = read_numbers(path, TaskContext(), separator);
    require(read.values.size() == read.lines.size() * read.columns, "a table of another size");
    std::string table = "numbers\n";
    for (std::size_t i = 0; i < read.values.size(); ++i) {
      table += number_text(read.values[i]) + ((i + 1) % read.columns == 0 ? " \n" : " ");
    }
    return table;
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  for (const Separator separator : {Separator::kBlanks, Separator::kCommas}) {
    const std::string words = words_in(separator, path);
    const std::string numbers = numbers_in(separator, path);
    const auto text = text_to_read(input, words);
    if (!text || !text_to_read(input, numbers)) return;
    const bool is_text = is_utf8(*text) && text->find('\0') == text->npos;
    require_equal(is_error(words) ? "" : words, is_text ? words_slowly(separator, *text) : "",
                  "words and the slow way");
    require_equal(is_error(numbers) ? "" : numbers, is_text ? numbers_slowly(separator, *text) : "",
                  "numbers and the slow way");
  }
}

}  // namespace ancify::fuzz
