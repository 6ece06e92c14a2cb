// Fuzzes recombination maps: chunks of any size give the map of a slow, plain reader.
#include "core/ld/recombination_map.h"

#include <cmath>
#include <set>
#include <sstream>

#include "core/io/record_size.h"
#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string row_text(const std::string& name, const std::string& position, double map) {
  std::ostringstream row;
  row.precision(17);
  row << name << " " << std::stoll(position) << " " << map << ";";
  return row.str();
}

bool is_number(const std::string& text, double& value) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  return stream >> value && stream.eof() && std::isfinite(value);
}

// The map as text; empty if the input is not a map.
std::string read_slowly(std::string text) {
  std::istringstream lines(text);
  std::string result;
  std::set<std::string> seen;
  std::string chromosome;
  double before = 0;
  long long last = 0;
  bool increases = false;
  std::size_t columns = 0;
  bool hapmap = false;
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const std::vector<std::string> row = words_of(line);
    if (row.empty() || row[0][0] == '#') continue;
    if (columns == 0 && row[0] == "Chromosome") {
      columns = 4;
      hapmap = true;
      continue;
    }
    if (columns == 0) columns = row.size() == 3 ? 3 : 4;
    if (row.size() != columns || !is_utf8(row[0]) || row[0].size() > kLongestName) return {};
    if (row[0].find('\0') != std::string::npos) return {};
    const std::string position = row[hapmap ? 1 : columns - 1];
    double map = 0;
    if (position.size() > 18 || position.find_first_not_of("0123456789") != std::string::npos) {
      return {};
    }
    if (!is_number(row[hapmap ? 3 : columns - 2], map)) return {};
    const bool goes_on = !seen.empty() && row[0] == chromosome;
    if (!goes_on && !seen.insert(row[0]).second) return {};
    if (goes_on && (std::stoll(position) <= last || map < before)) return {};
    increases = increases || (goes_on && map > before);
    chromosome = row[0];
    last = std::stoll(position);
    before = map;
    result += row_text(chromosome, position, map);
  }
  return increases ? result : "";
}

std::string read(const std::string& path, std::size_t chunk) {
  return outcome([&] {
    const RecombinationMap map = read_recombination_map(path, TaskContext(), chunk);
    std::string text;
    for (std::size_t i = 0; i < map.position.size(); ++i) {
      text += row_text(map.chromosomes[static_cast<std::size_t>(map.chromosome[i])],
                       std::to_string(map.position[i]), map.centimorgans[i]);
    }
    return text;
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string whole = read_in_any_chunks(input, read);
  if (const auto text = text_to_read(input, whole)) {
    require_equal(is_error(whole) ? "" : whole, read_slowly(*text), "the map and the slow way");
  }
}

}  // namespace ancify::fuzz
