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
  JoinedTexts bases;               // upper case, with T for U
  std::vector<std::string> empty;  // files without a record
  bool share_ids = false;          // whether files share ids
};

// The records of FASTA and FASTQ files, in order. Mates of paired reads share an id between two
// files. If files share ids, each id is followed by the file's number, as in "a/2". FormatError for
// a record without an id or bases, and for an id that is not UTF-8 or is repeated within a file.
// FormatError too for a letter that is neither an IUPAC code nor a gap, as in protein files, or if
// no file has a record. `part_size`: of the joined bases.
DnaRecords read_dna(const std::vector<std::string>& paths, std::size_t part_size,
                    JobControl& control);

}  // namespace ancify
