// Reads any FASTA file: any number of sequences, lines of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/io/byte_source.h"

namespace ancify {

// The part of a chromosome in a sequence with a name in Ensembl's form, such as
// ANCESTOR_for_chromosome:GRCh37:Y:2649521:59034049:1. The last field, the strand, may be absent.
struct EnsemblSlice {
  std::string_view chromosome;
  std::int64_t start;  // counts from 1
  std::int64_t end;
  bool minus;
};
// Parses such a name; empty for any other name.
std::optional<EnsemblSlice> ensembl_slice(std::string_view name);

struct FastaSink {
  // Called at the start of a sequence, with its name, up to the first blank, and the line of its
  // header.
  std::function<void(std::string_view name, std::int64_t line)> begin;
  // Called with the sequence's bases, in pieces.
  std::function<void(std::string_view bases)> bases;
  // True if bases are kept. If so, a text far larger than its compressed file is a FormatError
  // (open_kept_text()).
  bool is_kept = false;
};

// Reads the chromosomes of a plain, gzip or bgzip file, with N for positions before an Ensembl
// slice. Bases may be any printable characters. Throws FormatError if the file is not FASTA, or for
// a slice of the minus strand. Advances `control` by the bytes of the file. `chunk_size` is the
// number of bytes of text to read at a time.
void read_fasta(const std::string& path, const FastaSink& sink, JobControl& control,
                const TaskContext& context, std::size_t chunk_size = 1 << 18);
// Reads an open source; `path` is for messages.
void read_fasta(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size);
// Reads an open source, with bases as they are, whatever the names.
void read_fasta_records(const std::string& path, ByteSource& source, const FastaSink& sink,
                        JobControl& control, const TaskContext& context, std::size_t chunk_size);

// Passes the only sequence of a file, whatever its name, to take() in pieces. Throws FormatError if
// the file has several. Returns the end position of an Ensembl slice, else 0. `is_kept` is as in
// FastaSink.
std::int64_t read_one_sequence(const std::string& path,
                               const std::function<void(std::string_view)>& take,
                               const TaskContext& context, bool is_kept = false);

}  // namespace ancify
