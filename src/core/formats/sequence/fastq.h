// Reads FASTQ with four lines a record, and sequences of either format.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fasta.h"
#include "core/io/byte_source.h"

namespace ancify {

// Passes the reads of an open source to `sink`, each with one call of bases(). FormatError with
// line and record if a record is cut, or has qualities of another length. Advances `control` by the
// bytes of the file. `chunk_size`: bytes of text to read at a time. `path` is for messages.
void read_fastq(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size);

// Reads the records of a plain, gzip or bgzip file of FASTA, or of FASTQ if it begins with @, as
// they are. FormatError if it has no sequence.
void read_sequences(const std::string& path, const FastaSink& sink, JobControl& control,
                    const TaskContext& context, std::size_t chunk_size = 1 << 18);

}  // namespace ancify
