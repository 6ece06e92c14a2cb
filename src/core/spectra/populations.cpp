// Reads the table that assigns samples to populations.
#include "core/spectra/populations.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Splits off the first column of a line.
std::string_view next_column(std::string_view& line, bool by_tabs) {
  if (!by_tabs) return next_field(line);
  const std::size_t end = line.find('\t');
  std::string_view column = line.substr(0, end);
  line.remove_prefix(end == line.npos ? line.size() : end + 1);
  while (!column.empty() && column.front() == ' ') column.remove_prefix(1);
  return trim_end(column);
}

}  // namespace

std::vector<PopulationOfSample> read_populations(const std::string& path) {
  std::vector<PopulationOfSample> result;
  std::unordered_set<std::string> samples;
  for_each_line(path, TaskContext(), [&](std::string_view line, std::int64_t number) {
    if (line.empty() || line.front() == '#') return;
    const std::string_view whole = line;
    const bool by_tabs = line.find('\t') != line.npos;
    const std::string sample(next_column(line, by_tabs));
    const std::string population(next_column(line, by_tabs));
    const bool is_text = is_utf8(whole) && whole.find('\0') == whole.npos;
    const bool too_long = std::max(sample.size(), population.size()) > kLongestName;
    if (sample.empty() || population.empty() || too_long || !is_text) {
      throw FormatError(path, number, "not a sample and its population: " + excerpt(whole));
    }
    if (!samples.insert(sample).second) {
      throw FormatError(path, number, "the sample " + excerpt(sample) + " is listed twice");
    }
    result.push_back({sample, population});
  });
  return result;
}

}  // namespace ancify
