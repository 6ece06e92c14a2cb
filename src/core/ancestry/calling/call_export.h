// Writes the calls of chromosomes as FASTA for other programs: a file each, or one of all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/calling/call_regions.h"
#include "core/exec/job_control.h"
#include "core/genome/sequence_set.h"

namespace ancify {

struct CallExport {
  std::vector<CallFile> calls;
  std::string folder;                   // of the files <chromosome>.fa
  bool low_confidence = true;           // whether calls of low confidence count as calls
  std::vector<SequenceFile> reference;  // bases for positions without a call; may be empty
  char unknown = 'N';                   // of positions without either
};

// The positions of a chromosome, by the source of their letter.
struct ExportedPositions {
  std::int64_t called = 0;
  std::int64_t filled = 0;  // from the reference
  std::int64_t unknown = 0;
};

// Writes the bases of each chromosome in upper case. A file appears once it is complete. Throws
// FormatError for a letter that is not a call, InputError if the reference lacks a chromosome or
// has another length.
std::vector<ExportedPositions> export_calls(const CallExport& options, JobControl& control);

struct GenomeExport {
  std::vector<CallFile> calls;
  std::string path;  // the path that GenomeWriter gets
  std::int64_t width = 60;
  bool low_confidence = true;  // whether calls of low confidence are kept; else they become N
  int threads = 1;
};

// Writes the letters of all chromosomes, unchanged, into one indexed file. The result has the
// positions of all chromosomes; none is filled. Throws FormatError for a letter that is not a call.
ExportedPositions export_genome(const GenomeExport& options, JobControl& control);

}  // namespace ancify
