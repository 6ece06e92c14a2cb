// Rules for changing a variant file's fields when REF and ALT change places. It names htslib, so
// only files of this folder that do so may include it.
#pragma once

#include <htslib/vcf.h>

#include <string>
#include <string_view>

namespace ancify {

enum class FieldRule {
  kStays,
  kRemoved,     // values of ALT alone, which say nothing about REF
  kNumber,      // text of ALT alone: removed if it contains numbers
  kLength,      // determined by the alleles' lengths: removed if these differ
  kByAllele,    // in the alleles' order
  kByGenotype,  // in the genotypes' order
  kByStrand,    // REF forward, REF reverse, ALT forward, ALT reverse: halves change places
  kPhased,      // a genotype as text, which names the other allele
  kCount,       // copies of ALT: becomes count_of_all() minus this
  kShare,       // of ALT: 1 - x
  kDose         // copies of ALT in a sample, any number up to its ploidy: ploidy - x
};

// The rule for a field of BCF_HL_INFO or BCF_HL_FMT. Reserved fields of VCF and fields with known
// names follow their own definitions; others follow the header's Number.
FieldRule field_rule(const bcf_hdr_t* header, int column, int key);

// The field that counts all copies, for a field that counts ALT's copies: AN for AC, AN_afr for
// AC_afr, an_eas for ac_eas.
std::string count_of_all(std::string_view id);

}  // namespace ancify
