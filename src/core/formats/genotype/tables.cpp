// Parses tables of samples and variants, line by line.
#include "core/formats/genotype/tables.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

using Fields = std::vector<std::string_view>;

Fields split(std::string_view line) {
  Fields fields;
  for (std::string_view field = next_field(line); !field.empty(); field = next_field(line)) {
    fields.push_back(field);
  }
  return fields;
}

// Calls take(fields, number) for each line with fields. A byte order mark is left out.
template <class Take>
void for_each_row(const std::string& path, const TaskContext& context, Take&& take) {
  for_each_line(path, context, [&](std::string_view line, std::int64_t number) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (number == 1 && line.substr(0, 3) == byte_order_mark) line.remove_prefix(3);
    if (!is_utf8(line) || line.find('\0') != line.npos) {
      throw FormatError(path, number, "this line is not UTF-8 text. Is it the right file?");
    }
    const Fields fields = split(line);
    if (!fields.empty()) take(fields, number);
  });
}

std::string count_of(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

void check_width(const std::string& path, std::int64_t number, std::size_t columns,
                 std::size_t expected) {
  if (columns == expected) return;
  throw FormatError(path, number,
                    "this line has " + count_of(columns, "column") +
                        ", but the lines before it have " + std::to_string(expected));
}

class SampleParser {
 public:
  explicit SampleParser(const std::string& path) : path_(path) {}

  void take(const Fields& fields, std::int64_t number) {
    if (width_ == 0) {
      if (take_header(fields)) return;
      if (fields[0].front() == '#') return;  // a comment
      has_family_ = fields.size() > 1;
      start(fields.size());
    }
    check_width(path_, number, fields.size(), width_);
    std::size_t at = 0;
    table_.family.add(has_family_ ? fields[at++] : "0");
    table_.id.add(fields[at++]);
    for (TextColumn& column : table_.columns) column.add(fields[at++]);
    table_.lines.push_back(number);
  }

  SampleTable table() {
    if (table_.id.size() == 0) throw FormatError(path_, 0, "there is no sample in this file");
    check_unique();
    return std::move(table_);
  }

 private:
  // False if this is no header.
  bool take_header(const Fields& fields) {
    const std::string_view first = fields[0].substr(fields[0].front() == '#' ? 1 : 0);
    has_family_ = first == "FID" && fields.size() > 1 && fields[1] == "IID";
    if (!has_family_ && first != "IID") return false;
    start(fields.size());
    table_.names.assign(fields.begin() + (has_family_ ? 2 : 1), fields.end());
    return true;
  }

  void start(std::size_t width) {
    width_ = width;
    table_.columns.resize(width - (has_family_ ? 2 : 1));
  }

  void check_unique() const {
    std::unordered_map<std::string_view, std::int64_t> line_of;
    for (std::size_t i = 0; i < table_.id.size(); ++i) {
      const auto [known, is_new] = line_of.emplace(table_.id[i], table_.lines[i]);
      if (is_new) continue;
      throw FormatError(path_, table_.lines[i],
                        "the IID " + excerpt(table_.id[i]) + " is also in line " +
                            std::to_string(known->second) +
                            ". IIDs must be unique, as samples are known by them");
    }
  }

  const std::string& path_;
  SampleTable table_;
  std::size_t width_ = 0;
  bool has_family_ = false;
};

// PLINK has negative positions for variants without one.
std::optional<std::int32_t> parse_position(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  const auto size = parse_whole_number(text.substr(is_negative ? 1 : 0));
  if (!size || *size > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(is_negative ? -*size : *size);
}

class VariantParser {
 public:
  explicit VariantParser(const std::string& path) : path_(path) {}

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
    if (field(kCounted).find(',') != std::string_view::npos) {
      throw FormatError(path_, number,
                        "the variant " + excerpt(field(kId)) +
                            " has several ALT alleles. Leave it out with plink2 --max-alleles 2");
    }
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

  // False if this is no header.
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
    // Centimorgans may be left out.
    const std::size_t position = width_ - 3;
    at_ = {0, position, 1, position + 2, position + 1};
  }

  const std::string& path_;
  VariantTable table_;
  std::size_t width_ = 0;
  std::array<std::size_t, kColumns> at_ = {};
};

}  // namespace

SampleTable read_samples(const std::string& path, const TaskContext& context) {
  SampleParser parser(path);
  for_each_row(path, context,
               [&](const Fields& fields, std::int64_t number) { parser.take(fields, number); });
  return parser.table();
}

VariantTable read_variants(const std::string& path, const TaskContext& context) {
  VariantParser parser(path);
  for_each_row(path, context,
               [&](const Fields& fields, std::int64_t number) { parser.take(fields, number); });
  return parser.table();
}

}  // namespace ancify
