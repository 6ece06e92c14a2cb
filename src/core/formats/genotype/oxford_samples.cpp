// Passes the rows of a .sample to the parser of PLINK's tables, under a header of theirs.
#include "core/formats/genotype/oxford_samples.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "core/exec/errors.h"
#include "core/formats/genotype/sample_rows.h"
#include "core/io/text.h"

namespace ancify {

namespace {

class OxfordRows {
 public:
  OxfordRows(const std::string& path, std::int64_t most) : path_(path), rows_(path, most) {}

  void take(const Fields& fields, std::int64_t number) {
    if (names_.empty()) {
      names_.assign(fields.begin(), fields.end());
    } else if (!has_types_) {
      take_types(fields, number);
    } else if (rows_.take(fields, number)) {
      add_values(rows_, fields, table_);
    }
  }

  SampleTable table() {
    std::tie(table_.id, table_.lines) = rows_.samples();
    table_.names = rows_.names();
    return std::move(table_);
  }

 private:
  void take_types(const Fields& types, std::int64_t number) {
    check_width(path_, number, types.size(), names_.size());
    for (const std::string_view type : types) {
      if (type.size() == 1 && std::string_view("0DCPB").find(type) != std::string_view::npos) {
        continue;
      }
      throw FormatError(path_, number,
                        "the second line of a .sample has the types of its columns, 0, D, C, P or "
                        "B, not " +
                            excerpt(type));
    }
    std::size_t ids = 0;
    while (ids < types.size() && types[ids] == "0" && names_[ids] != "missing") ++ids;
    if (ids < 1 || ids > 2) {
      throw FormatError(path_, number,
                        "a .sample begins with one or two columns of IDs, of type 0, not with " +
                            std::to_string(ids));
    }
    Fields header(names_.begin(), names_.end());
    header[ids - 1] = "IID";
    if (ids == 2) header[0] = "FID";
    rows_.take(header, number);
    has_types_ = true;
  }

  const std::string& path_;
  SampleRows rows_;
  std::vector<std::string> names_;
  bool has_types_ = false;
  SampleTable table_;
};

}  // namespace

SampleTable read_oxford_samples(const std::string& path, const TaskContext& context,
                                std::int64_t most) {
  OxfordRows rows(path, most);
  for_each_row(path, context,
               [&](const Fields& fields, std::int64_t number) { rows.take(fields, number); });
  return rows.table();
}

}  // namespace ancify
