// Writes chosen genotypes as a PLINK 1 BED with its .bim and .fam, or a PLINK 2 PGEN with its .pvar
// and .psam.
#pragma once

#include <string>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

enum class GenotypeFormat { kBed, kPgen };

// Texts of the tables beside the calls, with a line for each variant or sample. A PGEN notes
// whether the other allele is known to be the reference genome's.
struct GenotypeTables {
  std::string variants;
  std::string samples;
  bool known_reference = true;
};

// Writes three files whose paths begin with `stem`, the calls last, as commit_set() does. A PGEN
// has the storage mode 03 if the file gives dosages, else 02, of hard calls without compression.
// Memory is bounded. The counted allele becomes A1 of a BED, ALT of a PGEN. The job's progress is
// in variants.
void write_genotypes(GenotypeFormat format, const GenotypeFile& file,
                     const GenotypeSelection& selection, const GenotypeTables& tables,
                     const std::string& stem, bool overwrite, int threads, JobControl& control);

}  // namespace ancify
