// The table of samples and their populations.
#pragma once

#include <string>
#include <vector>

namespace ancify {

struct PopulationOfSample {
  std::string sample;
  std::string population;
};

// Reads a sample and its population a line, in the order of the file, plain or gzip: divided by
// tabs, or by blanks where a line has no tab; more columns do not count. Lines that are blank or
// begin with # are passed over; FormatError for any other that has not two names, or has a sample
// again.
std::vector<PopulationOfSample> read_populations(const std::string& path);

}  // namespace ancify
