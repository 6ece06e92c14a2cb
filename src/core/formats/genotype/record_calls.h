// The calls or dosages of a VCF or BCF, packed in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/sample_copies.h"
#include "core/formats/genotype/tables.h"

namespace ancify {

// Records with genotypes whose REF and ALT are different bases. ALT is the counted allele. Each ALT
// allele of a split record is a variant, with all other alleles as the other one.
struct RecordCalls {
  std::vector<std::string> samples;
  VariantTable variants;
  PackedGenotypes genotypes;
  DosageCounts dosages;
  bool unread_dosages = false;  // whether the header declares DS, which is not wanted
  std::int64_t split = 0;       // records with several ALT alleles
  // Records left out: several ALT alleles, no pair of different bases, no GT or dosages.
  std::int64_t multiallelic = 0;
  std::int64_t not_snp = 0;
  std::int64_t without_genotypes = 0;
};

// True if both alleles are one of A, C, G and T, in either case, and differ.
inline bool are_snp_alleles(std::string_view ref, std::string_view alt) {
  constexpr std::string_view bases = "ACGTacgt";
  if (ref.size() != 1 || alt.size() != 1) return false;
  const std::size_t one = bases.find(ref[0]);
  const std::size_t other = bases.find(alt[0]);
  return one != bases.npos && other != bases.npos && one % 4 != other % 4;
}

// How records are read.
struct RecordRule {
  bool split = false;  // whether records with several ALT alleles are split, or left out
  // Fields of FORMAT that may have dosages: DS, the copies of each ALT, or GP, the probabilities of
  // genotypes. A record's first declared field with values is read.
  std::vector<std::string> dosage_fields = {};
};

// A haploid call or dosage counts twice, as in PLINK. A genotype with a missing allele is missing.
// A sample without a dosage has its call. Throws FormatError for more than two alleles, no samples,
// a dosage beyond the copies, or a record that a VariantReader refuses. `threads` inflate.
RecordCalls read_record_calls(const std::string& path, const RecordRule& rule, int threads,
                              JobControl& control);

}  // namespace ancify
