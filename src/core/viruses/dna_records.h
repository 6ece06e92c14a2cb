// Records of DNA from files.
#pragma once

#include <string>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify {

struct DnaRecord {
  std::string id;
  std::string bases;  // upper case, with T for U
};

// The records of FASTA and FASTQ files, in order. FormatError for a record without an id or bases,
// an id that is not UTF-8 or was there before, and a letter that stands for no base: the file may
// be of proteins.
std::vector<DnaRecord> read_dna(const std::vector<std::string>& paths, JobControl& control);

}  // namespace ancify
