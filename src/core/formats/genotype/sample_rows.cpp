// Finds the header of a table of samples, and checks each row.
#include "core/formats/genotype/sample_rows.h"

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

void check_rows(const std::string& path, std::int64_t line, std::size_t rows, std::int64_t most) {
  if (static_cast<std::int64_t>(rows) < most) return;
  throw FormatError(path, line,
                    "the genotypes have no room for so many rows. Is this file theirs, and are "
                    "they whole?");
}

bool SampleRows::take(const Fields& fields, std::int64_t number) {
  if (width_ == 0) {
    if (take_header(fields)) return false;
    if (fields[0].front() == '#') return false;  // a comment
    width_ = fields.size();
    first_value_ = fields.size() > 1 ? 2 : 1;
  }
  check_width(path_, number, fields.size(), width_);
  check_rows(path_, number, ids_.size(), most_);
  const std::string_view id = fields[first_value_ - 1];
  check_new(id, number);
  ids_.add(id);
  lines_.push_back(number);
  return true;
}

// False if this is not a header.
bool SampleRows::take_header(const Fields& fields) {
  const std::string_view first = fields[0].substr(fields[0].front() == '#' ? 1 : 0);
  const bool has_family = first == "FID" && fields.size() > 1 && fields[1] == "IID";
  if (!has_family && first != "IID") return false;
  width_ = fields.size();
  first_value_ = has_family ? 2 : 1;
  names_.assign(fields.begin() + static_cast<std::ptrdiff_t>(first_value_), fields.end());
  return true;
}

void SampleRows::check_new(std::string_view id, std::int64_t number) {
  const auto known = index_.find_or_note(ids_, id);
  if (!known) return;
  throw FormatError(path_, number,
                    "the IID " + excerpt(id) + " is also in line " +
                        std::to_string(lines_[*known]) +
                        ". IIDs must be unique, as samples are known by them");
}

std::pair<TextColumn, std::vector<std::int64_t>> SampleRows::samples() {
  if (ids_.size() == 0) throw FormatError(path_, 0, "there is no sample in this file");
  index_ = {};
  return {std::move(ids_), std::move(lines_)};
}

void add_values(const SampleRows& rows, const Fields& fields, SampleTable& table) {
  table.family.add(rows.family(fields));
  std::size_t at = rows.first_value();
  table.columns.resize(fields.size() - at);
  for (TextColumn& column : table.columns) column.add(fields[at++]);
}

}  // namespace ancify
