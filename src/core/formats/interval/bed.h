// Regions of chromosomes, from BED.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// From start to before end, counted from 0.
struct Region {
  std::int64_t start;
  std::int64_t end;
};

// The regions of a BED file, plain or gzip, by chromosome: in order, and those that touch joined.
// FormatError for a line that is no region; comments, `track` and `browser` lines are none.
std::unordered_map<std::string, std::vector<Region>> read_bed(const std::string& path,
                                                              const TaskContext& context);

}  // namespace ancify
