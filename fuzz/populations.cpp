// Fuzzes tables of populations: a slow, plain reader agrees, in values or in failing.
#include "core/spectra/populations.h"

#include <set>
#include <sstream>

#include "core/io/record_size.h"
#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::vector<std::string> columns_of(const std::string& line) {
  if (line.find('\t') == line.npos) return words_of(line);
  std::vector<std::string> columns;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, '\t');) {
    field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
    field.erase(field.find_last_not_of(" \t\r") + 1);
    columns.push_back(field);
  }
  return columns;
}

std::string read_slowly(std::string text) {
  std::string table = "populations\n";
  std::set<std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    const auto columns = columns_of(line);
    if (!is_utf8(line) || line.find('\0') != line.npos || columns.size() < 2) return {};
    if (columns[0].empty() || columns[1].empty()) return {};
    if (std::max(columns[0].size(), columns[1].size()) > kLongestName) return {};
    if (!samples.insert(columns[0]).second) return {};
    table += columns[0] + "\t" + columns[1] + "\n";
  }
  return table;
}

}  // namespace

void check(std::string_view input) {
  const std::string read = outcome([&] {
    std::string table = "populations\n";
    for (const auto& [sample, population] : read_populations(as_file(input))) {
      table += sample + "\t" + population + "\n";
    }
    return table;
  });
  if (const auto text = text_to_read(input, read)) {
    require_equal(is_error(read) ? "" : read, read_slowly(*text), "populations and the slow way");
  }
}

}  // namespace ancify::fuzz
