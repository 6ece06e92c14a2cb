// A reference that others made: any FASTA of one sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/io/sequence_source.h"

namespace ancify {

// The one sequence of a FASTA file, plain or gzip, of lines of any length and under any name, read
// into memory. FormatError unless it is as long as the chromosome.
std::unique_ptr<SequenceSource> reference_source(const std::string& path, std::int64_t length);

}  // namespace ancify
