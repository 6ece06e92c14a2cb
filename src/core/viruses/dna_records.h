// Records of DNA from files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/io/joined_texts.h"

namespace ancify {

struct DnaRecords {
  std::vector<std::string> ids;
  JoinedTexts bases;  // upper case, with T for U
};

// The records of FASTA and FASTQ files, in order. FormatError for a record without an id or bases,
// an id that is not UTF-8 or was there before, and a letter that stands for no base: the file may
// be of proteins. `part_size`: of the joined bases.
DnaRecords read_dna(const std::vector<std::string>& paths, std::size_t part_size,
                    JobControl& control);

}  // namespace ancify
