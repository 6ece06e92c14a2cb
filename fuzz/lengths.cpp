// Fuzzes tables of chromosomes' lengths and other names: chunks of any size agree, and a
// slow, plain reader finds the same lengths.
#include "core/genome/lengths.h"

#include <set>
#include <sstream>

#include "core/io/file.h"
#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

// The table as text; empty if the input is not a table.
std::string read_slowly(std::string text) {
  std::string table;
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string name = line.substr(0, blank);
    line.erase(0, std::min(line.find_first_not_of(" \t", blank), line.size()));
    std::string number = line.substr(0, line.find_first_of(" \t"));
    const bool is_number = !number.empty() && number.size() <= 18 &&
                           number.find_first_not_of("0123456789") == number.npos;
    number.erase(0, number.find_first_not_of('0'));
    if (!is_number || number.empty()) return {};
    if (!is_safe_file_name(name) || !is_utf8(name) || !names.insert(name).second) return {};
    table.append(name).append("=").append(number).append(";");
  }
  return table;
}

std::string read(const std::string& path, std::size_t chunk) {
  return outcome([&] {
    std::string table;
    for (const auto& [name, length] : read_chromosome_lengths(path, TaskContext(), chunk)) {
      table.append(name).append("=").append(std::to_string(length)).append(";");
    }
    return table;
  });
}

std::string read_aliases(const std::string& path, std::size_t chunk) {
  return outcome([&] {
    std::string table;
    const std::vector<std::string> names = {"chr1", "2", "X"};
    for (const auto& [alias, i] : read_chromosome_aliases(path, names, TaskContext(), chunk)) {
      table.append(alias).append("=").append(names[i]).append(";");
    }
    return table;
  });
}

}  // namespace

void check(std::string_view input) {
  read_in_any_chunks(input, read_aliases);
  const std::string whole = read_in_any_chunks(input, read);
  if (const auto text = text_to_read(input, whole)) {
    require_equal(is_error(whole) ? "" : whole, read_slowly(*text), "the table and the slow way");
  }
}

}  // namespace ancify::fuzz
