// Parses tables of samples and variants, line by line.
#include "core/formats/genotype/tables.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/sample_rows.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// PLINK uses negative positions for variants without one.
std::optional<std::int32_t> parse_position(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  const auto size = parse_whole_number(text.substr(is_negative ? 1 : 0));
  if (!size || *size > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(is_negative ? -*size : *size);
}

class VariantParser {
 public:
  VariantParser(const std::string& path, std::int64_t most) : path_(path), most_(most) {}

  void take(const Fields& fields, std::int64_t number) {
    if (width_ == 0) {
      if (take_header(fields, number)) return;
      if (fields[0].front() == '#') return;  // a line of metadata
      start_bim(fields, number);
    }
    check_width(path_, number, fields.size(), width_);
    const auto field = [&](Column column) { return fields[at_[column]]; };
    const auto position = parse_position(field(kPosition));
    if (!position) {
      throw FormatError(
          path_, number,
          "the position " + excerpt(field(kPosition)) + " is not a whole number below 2^31");
    }
    check_rows(path_, number, table_.id.size(), most_);
    table_.chromosome.add(field(kChromosome));
    table_.id.add(field(kId));
    table_.position.push_back(*position);
    table_.counted.add(field(kCounted));
    table_.other.add(field(kOther));
  }

  VariantTable table() {
    if (table_.id.size() == 0) throw FormatError(path_, 0, "there is no variant in this file");
    return std::move(table_);
  }

 private:
  enum Column { kChromosome, kPosition, kId, kOther, kCounted, kColumns };

  // False if this is not a header.
  bool take_header(const Fields& fields, std::int64_t number) {
    if (fields[0] != "#CHROM") return false;
    constexpr std::array<std::string_view, kColumns> names = {"#CHROM", "POS", "ID", "REF", "ALT"};
    for (std::size_t column = 0; column < names.size(); ++column) {
      const auto found = std::find(fields.begin(), fields.end(), names[column]);
      if (found == fields.end()) {
        throw FormatError(path_, number, "the header has no column " + std::string(names[column]));
      }
      at_[column] = static_cast<std::size_t>(found - fields.begin());
    }
    width_ = fields.size();
    return true;
  }

  void start_bim(const Fields& fields, std::int64_t number) {
    width_ = fields.size();
    if (width_ != 5 && width_ != 6) {
      throw FormatError(path_, number,
                        "this line has " + count_of(width_, "column") +
                            ". A .bim has chromosome, ID, centimorgans, position and two alleles");
    }
    // Centimorgans may be absent.
    const std::size_t position = width_ - 3;
    at_ = {0, position, 1, position + 2, position + 1};
  }

  const std::string& path_;
  const std::int64_t most_;
  VariantTable table_;
  std::size_t width_ = 0;
  std::array<std::size_t, kColumns> at_ = {};
};

}  // namespace

SampleTable read_samples(const std::string& path, const TaskContext& context, std::int64_t most) {
  SampleRows rows(path, most);
  SampleTable table;
  for_each_row(path, context, [&](const Fields& fields, std::int64_t number) {
    if (rows.take(fields, number)) add_values(rows, fields, table);
  });
  table.names = rows.names();
  std::tie(table.id, table.lines) = rows.samples();
  return table;
}

VariantTable read_variants(const std::string& path, const TaskContext& context, std::int64_t most) {
  VariantParser parser(path, most);
  for_each_row(path, context,
               [&](const Fields& fields, std::int64_t number) { parser.take(fields, number); });
  return parser.table();
}

}  // namespace ancify
