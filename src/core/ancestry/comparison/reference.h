// A reference made by others: any FASTA file with one sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/exec/threads.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// Passes the sequence of a FASTA file (plain or gzip, any name, any line length) to take() in
// pieces. An Ensembl slice is padded with N to the chromosome. FormatError unless there is one
// sequence and it has `length` bases.
void read_reference(const std::string& path, std::int64_t length,
                    const std::function<void(std::string_view)>& take, const TaskContext& context);

// This sequence as a source in memory.
std::unique_ptr<SequenceSource> reference_source(const std::string& path, std::int64_t length);

}  // namespace ancify
