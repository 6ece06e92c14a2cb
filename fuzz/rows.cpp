// Fuzzes tables of words and of numbers: a slow, plain reader finds the same, or an error too.
#include "core/io/rows.h"

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

std::string words_slowly(const std::string& text) {
  auto rows = rows_of(text);
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

std::string numbers_slowly(const std::string& text) {
  const auto rows = rows_of(text);
  if (!of_one_width(rows)) return {};
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

std::string words_in(const std::string& path) {
  return outcome([&] {
    const WordTable read = read_words(path, kLeast, kMost, {"variant", "component"}, TaskContext());
    std::string table = "words\n";
    for (std::size_t i = 0; i < read.lines.size(); ++i) {
      for (const TextColumn& column : read.columns) table += std::string(column[i]) + " ";
      table += "\n";
    }
    return table;
  });
}

std::string numbers_in(const std::string& path) {
  return outcome([&] {
    const NumberTable read = read_numbers(path, TaskContext());
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
  const std::string words = words_in(path);
  const std::string numbers = numbers_in(path);
  const auto text = text_to_read(input, words);
  if (!text || !text_to_read(input, numbers)) return;
  const bool is_text = is_utf8(*text) && text->find('\0') == text->npos;
  require_equal(is_error(words) ? "" : words, is_text ? words_slowly(*text) : "",
                "words and the slow way");
  require_equal(is_error(numbers) ? "" : numbers, is_text ? numbers_slowly(*text) : "",
                "numbers and the slow way");
}

}  // namespace ancify::fuzz
