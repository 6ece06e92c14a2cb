// Reads the rows of a table of samples: its header, and its unique IDs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/genotype/tables.h"
#include "core/io/rows.h"

namespace ancify {

// Throws FormatError if a table already has `most` rows.
void check_rows(const std::string& path, std::int64_t line, std::size_t rows, std::int64_t most);

class SampleRows {
 public:
  SampleRows(const std::string& path, std::int64_t most) : path_(path), most_(most) {}

  // True if a row belongs to a sample; otherwise it is the header, or a comment before it. Throws
  // FormatError if it is neither.
  bool take(const Fields& fields, std::int64_t number);

  // The column in which the values of a row begin; 0 before the header or the first sample.
  std::size_t first_value() const { return first_value_; }
  // The names of the value columns, from the header; empty without one.
  const std::vector<std::string>& names() const { return names_; }
  std::string_view family(const Fields& fields) const {
    return first_value_ == 2 ? fields[0] : "0";
  }
  // IDs and lines of all samples; call it once. Throws FormatError if the table has no sample.
  std::pair<TextColumn, std::vector<std::int64_t>> samples();

 private:
  bool take_header(const Fields& fields);
  void check_new(std::string_view id, std::int64_t number);

  const std::string& path_;
  const std::int64_t most_;
  TextColumn ids_;
  TextIndex index_;
  std::vector<std::int64_t> lines_;
  std::vector<std::string> names_;
  std::size_t width_ = 0;
  std::size_t first_value_ = 0;
};

// Adds the family and the values of the sample that `rows` took last to a table.
void add_values(const SampleRows& rows, const Fields& fields, SampleTable& table);

}  // namespace ancify
