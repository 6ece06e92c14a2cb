// Reads rows of tables within the limits of LineReader, which bounds memory by the file's size.
#include "core/io/rows.h"

#include <algorithm>
#include <deque>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"

namespace ancify {

std::optional<std::size_t> TextIndex::find_or_note(const TextColumn& texts, std::string_view text) {
  if (2 * texts.size() >= numbers_.size()) grow(texts);
  std::size_t& number = numbers_[place_of(texts, text)];
  if (number > 0) return number - 1;
  number = texts.size() + 1;
  return {};
}

void TextIndex::grow(const TextColumn& texts) {
  numbers_.assign(std::max<std::size_t>(16, 2 * numbers_.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) numbers_[place_of(texts, texts[i])] = i + 1;
}

std::size_t TextIndex::place_of(const TextColumn& texts, std::string_view text) const {
  const std::size_t mask = numbers_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(text) & mask;
  while (numbers_[at] > 0 && texts[numbers_[at] - 1] != text) at = (at + 1) & mask;
  return at;
}

namespace {

// Splits lines at commas.
class CommaSplitter {
 public:
  // False if quotes do not match. The fields are valid until the next call.
  bool split(std::string_view line, Fields& fields) {
    texts_.clear();
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (!line.empty() && line.front() == '"') {
        if (!take_quoted(line, fields)) return false;
      } else {
        const std::string_view field = line.substr(0, line.find(','));
        fields.push_back(trim_end(field));
        line.remove_prefix(field.size());
      }
      if (line.empty()) return true;
      line.remove_prefix(1);
    }
  }

 private:
  // Leaves the line at its comma or end.
  bool take_quoted(std::string_view& line, Fields& fields) {
    line.remove_prefix(1);
    std::size_t end = line.find('"');
    while (end != line.npos && line.substr(end + 1, 1) == "\"") end = line.find('"', end + 2);
    if (end == line.npos) return false;
    fields.push_back(without_doubled_quotes(line.substr(0, end)));
    line.remove_prefix(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.empty() || line.front() == ',';
  }

  std::string_view without_doubled_quotes(std::string_view field) {
    if (field.find('"') == field.npos) return field;
    std::string& text = texts_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      text += field[i];
      if (field[i] == '"') ++i;
    }
    return text;
  }

  std::deque<std::string> texts_;  // fields that are not parts of the line
};

}  // namespace

void for_each_row(const std::string& path, const TaskContext& context, Separator separator,
                  const std::function<void(const Fields&, std::int64_t)>& take) {
  Fields fields;
  CommaSplitter at_commas;
  for_each_line(path, context, [&](std::string_view line, std::int64_t number) {
    if (!is_utf8(line) || line.find('\0') != line.npos) {
      throw FormatError(path, number, "this line is not UTF-8 text. Is it the right file?");
    }
    fields.clear();
    if (separator == Separator::kBlanks) {
      for (std::string_view field = next_field(line); !field.empty(); field = next_field(line)) {
        fields.push_back(field);
      }
    } else if (!line.empty() && !at_commas.split(line, fields)) {
      throw FormatError(path, number, "the quotes of this line do not match");
    }
    if (!fields.empty()) take(fields, number);
  });
}

void for_each_row(const std::string& path, const TaskContext& context,
                  const std::function<void(const Fields&, std::int64_t)>& take) {
  for_each_row(path, context, Separator::kBlanks, take);
}

std::string count_of(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

void check_width(const std::string& path, std::int64_t line, std::size_t columns,
                 std::size_t expected) {
  if (columns == expected) return;
  throw FormatError(path, line,
                    "this line has " + count_of(columns, "column") +
                        ", but the lines before it have " + std::to_string(expected));
}

WordTable read_words(const std::string& path, const WordRows& rows, const TaskContext& context) {
  const std::vector<std::string>& header = rows.header;
  WordTable table;
  bool is_first = true;
  for_each_row(path, context, rows.separator, [&](const Fields& fields, std::int64_t line) {
    if (rows.comments && fields[0].substr(0, 1) == "#") return;
    const bool is_header = is_first && fields.size() >= header.size() && !header.empty() &&
                           std::equal(header.begin(), header.end(), fields.begin());
    is_first = false;
    if (is_header) return;
    if (table.lines.empty()) {
      if (fields.size() < rows.least || fields.size() > rows.most) {
        throw FormatError(path, line,
                          "this line has " + count_of(fields.size(), "column") + ", not " +
                              std::to_string(rows.least) +
                              (rows.most > rows.least ? " to " + std::to_string(rows.most) : ""));
      }
      table.columns.resize(fields.size());
    }
    check_width(path, line, fields.size(), table.columns.size());
    for (std::size_t i = 0; i < fields.size(); ++i) table.columns[i].add(fields[i]);
    table.lines.push_back(line);
  });
  return table;
}

NumberTable read_numbers(const std::string& path, const TaskContext& context, Separator separator) {
  NumberTable table;
  NumberParser parse;
  for_each_row(path, context, separator, [&](const Fields& fields, std::int64_t line) {
    if (table.lines.empty()) table.columns = fields.size();
    check_width(path, line, fields.size(), table.columns);
    for (const std::string_view field : fields) {
      const auto value = parse(field);
      if (!value) throw FormatError(path, line, excerpt(field) + " is not a number");
      table.values.push_back(*value);
    }
    table.lines.push_back(line);
  });
  return table;
}

}  // namespace ancify
