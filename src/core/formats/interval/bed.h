// Reads regions of chromosomes from BED.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Positions [start, end), counted from 0.
struct Region {
  std::int64_t start;
  std::int64_t end;
};

// Reads a plain or gzip BED file. Returns each chromosome's regions in order; regions that overlap
// or touch are joined. Skips comments, `track` and `browser` lines. Throws FormatError for any
// other line that is not a region.
std::unordered_map<std::string, std::vector<Region>> read_bed(const std::string& path,
                                                              const TaskContext& context);

// Adds regions of a chromosome, and joins regions that overlap or touch.
void add_regions(const std::vector<Region>& more, std::vector<Region>& regions);

}  // namespace ancify
