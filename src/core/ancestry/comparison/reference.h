// A reference that others made: any FASTA of one sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/exec/threads.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// Hands the one sequence of a FASTA file, plain or gzip, of lines of any length and under any name,
// to take() in pieces. FormatError unless it is as long as the chromosome, or an Ensembl slice in
// it, which is handed with N around it.
void read_reference(const std::string& path, std::int64_t length,
                    const std::function<void(std::string_view)>& take, const TaskContext& context);

// The same, read into memory.
std::unique_ptr<SequenceSource> reference_source(const std::string& path, std::int64_t length);

}  // namespace ancify
