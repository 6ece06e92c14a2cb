// FASTA as others make it: any number of sequences, lines of any length.
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

// Which part of a chromosome a sequence is that is called as Ensembl's are, such as
// ANCESTOR_for_chromosome:GRCh37:Y:2649521:59034049:1; the last number may be left out.
struct EnsemblSlice {
  std::string_view chromosome;
  std::int64_t start;  // counts from 1
  std::int64_t end;
  bool minus;
};
std::optional<EnsemblSlice> ensembl_slice(std::string_view name);

struct FastaSink {
  // A sequence begins: its name, up to the first blank, and the line of its header.
  std::function<void(std::string_view name, std::int64_t line)> begin;
  // Its bases, in pieces; N up to the start of an Ensembl slice.
  std::function<void(std::string_view bases)> bases;
};

// Reads a file, plain, gzip or bgzip. FormatError unless it is FASTA, whose bases are any printable
// characters, or for a slice of the minus strand. Advances `control` by the bytes of the file.
// `chunk_size`: bytes of text at a time.
void read_fasta(const std::string& path, const FastaSink& sink, JobControl& control,
                const TaskContext& context, std::size_t chunk_size = 1 << 18);
// The same of text that is open; `path` is for messages.
void read_fasta(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size);

// Hands the one sequence of a file, whatever its name, to take() in pieces. FormatError if there
// are several. Gives the position where it ends if it is an Ensembl slice, else 0.
std::int64_t read_one_sequence(const std::string& path,
                               const std::function<void(std::string_view)>& take,
                               const TaskContext& context);

}  // namespace ancify
