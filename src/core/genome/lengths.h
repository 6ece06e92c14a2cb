// Reads a table of chromosomes: a name and a length per line, as in UCSC's chrom.sizes or a .fai.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

struct Chromosome {
  std::string name;
  std::int64_t length;
};

// Reads a plain or gzip table, in its order. Skips blank lines and lines that begin with #.
// FormatError for a line without a name and a positive whole number, for a name that comes twice,
// or for one that can't name a file. `chunk_size`: bytes of text to read at a time.
std::vector<Chromosome> read_chromosome_lengths(const std::string& path,
                                                const TaskContext& context = TaskContext(),
                                                std::size_t chunk_size = 1 << 16);

// The name with a leading chr added or removed.
std::string with_other_prefix(const std::string& name);

}  // namespace ancify
