// Converts texts into columns of numbers or levels as they are read.
#include "core/formats/genotype/sample_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/sample_rows.h"
#include "core/formats/genotype/tables.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool equal_but_for_capitals(std::string_view one, std::string_view other) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [&](char a, char b) { return small(a) == small(b); });
}

// A column under construction. The first non-missing value decides its type.
class ColumnReader {
 public:
  explicit ColumnReader(bool factors) : factors_(factors) {}

  // `number` is ValueParser's result for the text. Returns the first text among numbers, and its
  // line.
  using Fault = std::optional<std::pair<std::string, std::int64_t>>;
  Fault add(std::string_view text, std::optional<double> number, std::int64_t line) {
    const bool is_missing = number && std::isnan(*number);
    if (kind_ == kMissingAlone && !is_missing) {
      if (number) {
        kind_ = kNumbers;
      } else if (factors_) {
        start_factor(text, line);
      }
    }
    if (kind_ != kTexts) {
      if (!number) return {{std::string(text), line}};
      column_.numbers.push_back(*number);
    } else {
      if (number && !is_missing) return first_text_;
      column_.codes.push_back(is_missing ? 0 : code_of(text));
    }
    return {};
  }
  bool has_fault() const { return !column_.fault.empty(); }
  void keep_fault(std::string fault) {
    column_ = {};
    column_.fault = std::move(fault);
  }
  ValueColumn column() { return std::move(column_); }

 private:
  enum Kind { kMissingAlone, kNumbers, kTexts };

  void start_factor(std::string_view text, std::int64_t line) {
    kind_ = kTexts;
    first_text_ = {std::string(text), line};
    column_.codes.assign(column_.numbers.size(), 0);
    column_.numbers = {};
  }
  std::int32_t code_of(std::string_view text) {
    const auto known = index_.find_or_note(column_.levels, text);
    if (!known) column_.levels.add(text);
    return static_cast<std::int32_t>(known ? *known + 1 : column_.levels.size());
  }

  bool factors_;
  Kind kind_ = kMissingAlone;
  ValueColumn column_;
  TextIndex index_;  // of levels
  std::pair<std::string, std::int64_t> first_text_;
};

std::vector<std::string> names_of(const SampleRows& rows, std::size_t columns,
                                  const std::string& stem, const std::string& path,
                                  std::int64_t line) {
  if (columns == 0) {
    throw FormatError(
        path, line,
        "there is no column of values after the IID: separate columns by blanks or tabs");
  }
  std::vector<std::string> names = rows.names();
  for (std::size_t i = names.size(); i < columns; ++i)
    names.push_back(stem + std::to_string(i + 1));
  std::unordered_set<std::string> known = {"id"};
  for (const std::string& name : names) {
    if (known.insert(name).second) continue;
    throw FormatError(path, line, "the column " + excerpt(name) + " has a name that another has");
  }
  return names;
}

}  // namespace

ValueParser::ValueParser(const std::vector<std::string>& missing) {
  missing_.insert(missing_.end(), missing.begin(), missing.end());
  for (const std::string& text : missing) {
    if (const auto number = parse_(text)) missing_numbers_.push_back(*number);
  }
}

std::optional<double> ValueParser::operator()(std::string_view text) {
  for (const std::string& missing : missing_) {
    if (equal_but_for_capitals(text, missing)) return kMissing;
  }
  const auto number = parse_(text);
  const auto& all = missing_numbers_;
  return number && std::count(all.begin(), all.end(), *number) > 0 ? kMissing : number;
}

SampleValues read_sample_values(const std::string& path, const ValueRules& rules,
                                const TaskContext& context) {
  SampleRows rows(path, kAnyRows);
  ValueParser parse(rules.missing);
  SampleValues table;
  std::vector<ColumnReader> columns;
  std::int64_t first_line = 0;
  std::size_t faults_in_first_line = 0;
  for_each_row(path, context, [&](const Fields& fields, std::int64_t line) {
    const bool is_sample = rows.take(fields, line);
    const std::size_t first = rows.first_value();
    if (first == 0) return;  // a comment before the table
    if (columns.empty()) {
      columns.resize(fields.size() - first, ColumnReader(rules.factors));
      first_line = line;
      table.names = names_of(rows, columns.size(), rules.stem, path, line);
    }
    for (std::size_t i = 0; is_sample && i < columns.size(); ++i) {
      if (columns[i].has_fault()) continue;
      const std::string_view text = fields[first + i];
      const auto fault = columns[i].add(text, parse(text), line);
      if (!fault) continue;
      if (rules.keep_faults) {
        if (fault->second == first_line) ++faults_in_first_line;
        columns[i].keep_fault(excerpt(fault->first) + " in line " + std::to_string(fault->second) +
                              " of " + path + " is not a number");
        continue;
      }
      const bool may_be_header = rows.names().empty() && fault->second == first_line;
      throw FormatError(path, fault->second,
                        excerpt(fault->first) + " in the column " + excerpt(table.names[i]) +
                            " is not a number. " +
                            (may_be_header ? "A header must begin with FID IID, or with IID"
                                           : "Missing values are given by `na`"));
    }
  });
  if (rows.names().empty() && faults_in_first_line == columns.size() && first_line > 0) {
    throw FormatError(path, first_line,
                      "this line has no number. A header must begin with FID IID");
  }
  table.id = rows.samples().first;
  for (ColumnReader& column : columns) table.columns.push_back(column.column());
  return table;
}

}  // namespace ancify
