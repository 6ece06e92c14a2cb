// The table that assigns samples to populations.
#pragma once

#include <string>
#include <vector>

namespace ancify {

struct PopulationOfSample {
  std::string sample;
  std::string population;
};

// Reads a sample and its population from each line of a plain or gzip file, in the file's order.
// Columns are separated by tabs, or by blanks in a line without tabs; further columns are ignored.
// Blank lines and lines that begin with # are skipped. Throws FormatError for a line without two
// names, and for a repeated sample.
std::vector<PopulationOfSample> read_populations(const std::string& path);

}  // namespace ancify
