// The genotypes of a VCF or BCF, packed in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/tables.h"

namespace ancify {

// Records of one REF and one ALT, both a base, that have genotypes. ALT is counted.
struct RecordCalls {
  std::vector<std::string> samples;
  VariantTable variants;
  std::vector<std::uint8_t> calls;  // as GenotypeFile::read() gives them
  // Records left out: with several ALT, with other alleles than two bases, without GT.
  std::int64_t multiallelic = 0;
  std::int64_t not_snp = 0;
  std::int64_t without_genotypes = 0;
};

// Whether an allele is one of A, C, G and T, in either case.
inline bool is_one_base(std::string_view allele) {
  return allele.size() == 1 &&
         std::string_view("ACGTacgt").find(allele[0]) != std::string_view::npos;
}

// A haploid call counts twice, as in PLINK. A genotype with a missing allele is missing.
// FormatError for more than two alleles, no samples, or what a VariantReader refuses. `threads`
// inflate.
RecordCalls read_record_calls(const std::string& path, int threads, JobControl& control);

}  // namespace ancify
