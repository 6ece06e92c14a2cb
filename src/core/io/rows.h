// Reads tables whose rows are lines of UTF-8 text, with columns separated by blanks or commas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Texts stored in one block of memory.
class TextColumn {
 public:
  void add(std::string_view text) {
    text_ += text;
    ends_.push_back(text_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// Looks up texts of a column, by a hash table of their indices.
class TextIndex {
 public:
  // The index of this text in `texts`. Empty if the text is new; the caller must then add it next.
  std::optional<std::size_t> find_or_note(const TextColumn& texts, std::string_view text);

 private:
  void grow(const TextColumn& texts);
  // The slot of a text, or the free slot where it belongs.
  std::size_t place_of(const TextColumn& texts, std::string_view text) const;

  std::vector<std::size_t> numbers_;  // from 1; 0: a free slot. The size is a power of 2, half free
};

using Fields = std::vector<std::string_view>;

// Fields between commas may be in double quotes, within which two of them stand for one.
enum class Separator { kBlanks, kCommas };

// Calls take(fields, line) for each line with fields, and skips a byte order mark. Throws
// FormatError for a line that is not UTF-8 or contains a NUL, or whose quotes do not match.
void for_each_row(const std::string& path, const TaskContext& context, Separator separator,
                  const std::function<void(const Fields&, std::int64_t)>& take);
void for_each_row(const std::string& path, const TaskContext& context,
                  const std::function<void(const Fields&, std::int64_t)>& take);

// Throws FormatError unless a line has as many columns as the lines before it.
void check_width(const std::string& path, std::int64_t line, std::size_t columns,
                 std::size_t expected);

// A number and a noun, such as "1 column".
std::string count_of(std::size_t n, const std::string& noun);

// A table without a header. All rows have the same number of columns.
struct WordTable {
  std::vector<TextColumn> columns;
  std::vector<std::int64_t> lines;  // line of each row
};

// The rows that a WordTable may have: `least` to `most` columns, after an optional first row
// `header`.
struct WordRows {
  std::size_t least = 1;
  std::size_t most = 1;
  std::vector<std::string> header;
  Separator separator = Separator::kBlanks;
  bool comments = false;  // whether lines that begin with # are left out
};

WordTable read_words(const std::string& path, const WordRows& rows, const TaskContext& context);

struct NumberTable {
  std::vector<double> values;  // row by row
  std::size_t columns = 0;
  std::vector<std::int64_t> lines;  // line of each row
};

// Reads a table of finite numbers.
NumberTable read_numbers(const std::string& path, const TaskContext& context,
                         Separator separator = Separator::kBlanks);

}  // namespace ancify
