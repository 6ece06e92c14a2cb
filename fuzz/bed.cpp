// Fuzzes BED: a slow reader that joins regions one by one finds the same regions, or an error too.
#include "core/formats/interval/bed.h"

#include <map>
#include <sstream>

#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

using Regions = std::map<std::string, std::vector<Region>>;

std::string text_of(const Regions& regions) {
  std::string text = "regions\n";
  for (const auto& [name, of_chromosome] : regions) {
    for (const Region& region : of_chromosome) {
      text += name + " " + std::to_string(region.start) + " " + std::to_string(region.end) + "\n";
    }
  }
  return text;
}

// Joins each region with all earlier ones that overlap or touch it. Empty if a line is not a
// region.
std::string read_slowly(const std::string& text) {
  Regions regions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0][0] == '#' || words[0] == "track" || words[0] == "browser") {
      continue;
    }
    if (words.size() < 3) return {};
    const auto start = parse_whole_number(words[1]);
    const auto end = parse_whole_number(words[2]);
    if (!start || !end || *end < *start || words[0].size() > kLongestName) return {};
    Region joined = {*start, *end};
    std::vector<Region> apart;
    for (const Region& region : regions[words[0]]) {
      if (region.start > joined.end || region.end < joined.start) {
        apart.push_back(region);
      } else {
        joined = {std::min(region.start, joined.start), std::max(region.end, joined.end)};
      }
    }
    apart.push_back(joined);
    std::sort(apart.begin(), apart.end(),
              [](const Region& a, const Region& b) { return a.start < b.start; });
    regions[words[0]] = apart;
  }
  return text_of(regions);
}

}  // namespace

void check(std::string_view input) {
  const std::string read = outcome([&] {
    const auto regions = read_bed(as_file(input), TaskContext());
    return text_of({regions.begin(), regions.end()});
  });
  if (const auto text = text_to_read(input, read)) {
    require_equal(is_error(read) ? "" : read, read_slowly(*text), "BED and the slow way");
  }
}

}  // namespace ancify::fuzz
