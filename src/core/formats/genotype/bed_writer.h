// Writes chosen genotypes as a PLINK 1 BED, with its .bim and .fam.
#pragma once

#include <string>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

// The texts of the .bim and .fam of a BED, with a line for each variant or sample.
struct BedTables {
  std::string bim;
  std::string fam;
};

// Writes `stem`.bed, .bim and .fam, the BED last, as commit_set() does. Memory is bounded. The
// counted allele becomes A1. The job's progress is in variants.
void write_bed(const GenotypeFile& file, const GenotypeSelection& selection,
               const BedTables& tables, const std::string& stem, bool overwrite, int threads,
               JobControl& control);

}  // namespace ancify
