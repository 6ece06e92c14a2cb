// Reads FASTQ with four lines a record, and sequences of either format.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fasta.h"
#include "core/io/byte_source.h"

namespace ancify {

// Passes the reads of an open source to `sink`, each with one call of bases(). Throws FormatError
// with line and record if a record is truncated, or has qualities of another length. Advances
// `control` by the bytes of the file. `chunk_size` is the number of bytes of text to read at a
// time. `path` is for messages.
void read_fastq(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size);

// Reads the unchanged records of a plain, gzip or bgzip file of FASTA, or of FASTQ if it begins
// with @. An empty or blank file has none.
void read_sequences(const std::string& path, const FastaSink& sink, JobControl& control,
                    const TaskContext& context, std::size_t chunk_size = 1 << 18);

// Throws FormatError, as none of the files contains a sequence.
[[noreturn]] void throw_no_sequences(const std::vector<std::string>& paths);

}  // namespace ancify
