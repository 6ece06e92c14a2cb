// Reads recombination maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Rows in the file's order. A chromosome's rows are contiguous.
struct RecombinationMap {
  std::vector<std::string> chromosomes;  // in order
  std::vector<int> chromosome;           // of each row, from 0
  std::vector<std::int64_t> position;    // increasing within a chromosome
  std::vector<double> centimorgans;      // not decreasing within a chromosome
};

// Reads a plain or gzip file in one of two formats. HapMap's has a header, and columns of
// chromosome, position, rate in cM/Mb and map position in cM. PLINK's .map has chromosome,
// identifier, cM and position; the identifier may be absent. Empty lines and lines that begin with
// # are skipped. FormatError, with the line, for a malformed or unordered row, and for a file
// without rows or distances.
RecombinationMap read_recombination_map(const std::string& path, const TaskContext& context,
                                        std::size_t chunk_size = 1 << 16);

}  // namespace ancify
