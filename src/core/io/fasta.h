// FASTA as others make it: any number of sequences, lines of any length.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify {

struct FastaSink {
  // A sequence begins: its name, up to the first blank, and the line of its header.
  std::function<void(std::string_view name, std::int64_t line)> begin;
  // Its bases, in pieces.
  std::function<void(std::string_view bases)> bases;
};

// Reads a file, plain, gzip or bgzip. FormatError unless it is FASTA, whose bases are any printable
// characters. Advances `control` by the bytes of the file.
void read_fasta(const std::string& path, const FastaSink& sink, JobControl& control,
                const TaskContext& context);

// Hands the one sequence of a file, whatever its name, to take() in pieces. FormatError if there
// are several.
void read_one_sequence(const std::string& path, const std::function<void(std::string_view)>& take,
                       const TaskContext& context);

}  // namespace ancify
