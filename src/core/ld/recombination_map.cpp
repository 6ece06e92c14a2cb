// Reads recombination maps, line by line.
#include "core/ld/recombination_map.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/number_parser.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// The column index of each field.
struct MapColumns {
  std::size_t n;
  std::size_t position;
  std::size_t centimorgans;
};

constexpr MapColumns kHapMap = {4, 1, 3};
constexpr MapColumns kPlink = {4, 3, 2};
constexpr MapColumns kPlinkShort = {3, 2, 1};

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::string_view field = next_field(line); !field.empty(); field = next_field(line)) {
    fields.push_back(field);
  }
  return fields;
}

class MapReader {
 public:
  explicit MapReader(const std::string& path) : path_(path) {}

  void take(std::string_view line, std::int64_t number) {
    line_ = number;
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.empty() || fields[0].front() == '#') return;
    if (!columns_ && fields[0] == "Chromosome") {
      columns_ = kHapMap;
      return;
    }
    if (!columns_) columns_ = fields.size() == kPlinkShort.n ? kPlinkShort : kPlink;
    take_row(line, fields);
  }

  RecombinationMap finish() {
    if (map_.position.empty()) throw FormatError(path_, 0, "the map has no rows");
    if (!increases_) throw FormatError(path_, 0, "the map in cM is the same in all rows");
    return std::move(map_);
  }

 private:
  void take_row(std::string_view line, const std::vector<std::string_view>& fields) {
    if (fields.size() != columns_->n || !is_utf8(fields[0]) || fields[0].size() > kLongestName ||
        fields[0].find('\0') != fields[0].npos) {
      fail("not a row of a map with " + std::to_string(columns_->n) + " columns: " + excerpt(line));
    }
    const std::string_view position = fields[columns_->position];
    const auto base = parse_whole_number(position);
    if (!base) fail("the position is " + excerpt(position) + ", not a whole number");
    const std::string_view map = fields[columns_->centimorgans];
    const auto centimorgans = number_(map);
    if (!centimorgans) fail("the map is " + excerpt(map) + ", not a number of cM");
    if (map_.chromosomes.empty() || fields[0] != map_.chromosomes.back()) {
      if (!seen_.emplace(fields[0]).second) {
        fail("chromosome " + excerpt(fields[0]) + " comes a second time: sort the file");
      }
      map_.chromosomes.emplace_back(fields[0]);
    } else {
      check_order(*base, *centimorgans);
      increases_ = increases_ || *centimorgans > map_.centimorgans.back();
    }
    map_.chromosome.push_back(static_cast<int>(map_.chromosomes.size()) - 1);
    map_.position.push_back(*base);
    map_.centimorgans.push_back(*centimorgans);
  }

  void check_order(std::int64_t position, double centimorgans) const {
    if (position <= map_.position.back()) {
      fail("position " + std::to_string(position) + " comes after " +
           std::to_string(map_.position.back()) + ": sort the file, and keep a row a position");
    }
    if (centimorgans < map_.centimorgans.back()) {
      fail("the map goes back, from " + number_text(map_.centimorgans.back()) + " to " +
           number_text(centimorgans) + " cM: it must not decrease with the position");
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, line_, problem);
  }

  const std::string& path_;
  std::int64_t line_ = 0;
  std::optional<MapColumns> columns_;
  NumberParser number_;
  std::set<std::string, std::less<>> seen_;
  RecombinationMap map_;
  bool increases_ = false;
};

}  // namespace

RecombinationMap read_recombination_map(const std::string& path, const TaskContext& context,
                                        std::size_t chunk_size) {
  MapReader reader(path);
  for_each_line(
      path, context,
      [&](std::string_view line, std::int64_t number) {
        if (number % 4096 == 0) context.throw_if_stopped();
        reader.take(line, number);
      },
      chunk_size);
  return reader.finish();
}

}  // namespace ancify
