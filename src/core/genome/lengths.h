// The table of chromosomes: a name and a length a line, as in UCSC's chrom.sizes or a .fai.
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

// Reads the table, plain or gzip, in its order. Lines that are blank or begin with # do not count;
// FormatError for any other that is not a name and a positive whole number, or repeats a name.
// `chunk_size`: bytes of text at a time.
std::vector<Chromosome> read_chromosome_lengths(const std::string& path,
                                                const TaskContext& context = TaskContext(),
                                                std::size_t chunk_size = 1 << 16);

// The same name with a leading chr put on or taken off.
std::string with_other_prefix(const std::string& name);

}  // namespace ancify
