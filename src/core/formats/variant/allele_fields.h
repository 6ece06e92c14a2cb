// What becomes of a variant file's fields when REF and ALT change places. It names htslib, so only
// files of this folder that do so may include it.
#pragma once

#include <htslib/vcf.h>

#include <string>
#include <string_view>

namespace ancify {

enum class FieldRule {
  kStays,
  kRemoved,     // values of ALT alone, which say nothing of REF
  kLength,      // told by the lengths of the alleles: removed if these differ
  kByAllele,    // reversed
  kByGenotype,  // reversed
  kByStrand,    // REF forward, REF reverse, ALT forward, ALT reverse: halves change places
  kPhased,      // a genotype as text, which names the other allele
  kCount,       // copies of ALT, of those in count_of_all(): the rest of them
  kShare,       // of ALT: 1 - x
  kDose         // copies of ALT in a sample, any number up to its ploidy: ploidy - x
};

// The rule for a field of BCF_HL_INFO or BCF_HL_FMT. For fields that VCF reserves, and those with
// known names, this definition counts; for others the header's Number.
FieldRule field_rule(const bcf_hdr_t* header, int column, int key);

// The field with the number of all copies for one of ALT's: AN for AC, AN_afr for AC_afr.
std::string count_of_all(std::string_view id);

}  // namespace ancify
