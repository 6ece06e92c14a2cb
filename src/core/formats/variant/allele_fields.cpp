// Rules for fields whose names are known, else by their Number.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/allele_fields.h"

#include <algorithm>
#include <cstddef>

namespace ancify {

namespace {

struct KnownField {
  std::string_view id;
  int column;
  FieldRule rule;
};

// Fields that VCF reserves, as older files declare them otherwise, mostly with Number=. or 1, and
// fields of much used programs that do not declare what they describe: DP4 of bcftools, PGT of
// GATK, the doses and shares of imputation programs. Fields that name alleles in their own ways
// (GLE, and local alleles from VCF 4.5 on) can't be recomputed.
constexpr KnownField kKnown[] = {
    {"END", BCF_HL_INFO, FieldRule::kLength},    {"SVLEN", BCF_HL_INFO, FieldRule::kLength},
    {"CIGAR", BCF_HL_INFO, FieldRule::kRemoved}, {"AD", BCF_HL_INFO, FieldRule::kByAllele},
    {"ADF", BCF_HL_INFO, FieldRule::kByAllele},  {"ADR", BCF_HL_INFO, FieldRule::kByAllele},
    {"DP4", BCF_HL_INFO, FieldRule::kByStrand},  {"LDAF", BCF_HL_INFO, FieldRule::kShare},
    {"AD", BCF_HL_FMT, FieldRule::kByAllele},    {"ADF", BCF_HL_FMT, FieldRule::kByAllele},
    {"ADR", BCF_HL_FMT, FieldRule::kByAllele},   {"GL", BCF_HL_FMT, FieldRule::kByGenotype},
    {"GP", BCF_HL_FMT, FieldRule::kByGenotype},  {"PL", BCF_HL_FMT, FieldRule::kByGenotype},
    {"PP", BCF_HL_FMT, FieldRule::kByGenotype},  {"DP4", BCF_HL_FMT, FieldRule::kByStrand},
    {"PGT", BCF_HL_FMT, FieldRule::kPhased},     {"DS", BCF_HL_FMT, FieldRule::kDose},
    {"HDS", BCF_HL_FMT, FieldRule::kShare},      {"AP1", BCF_HL_FMT, FieldRule::kShare},
    {"AP2", BCF_HL_FMT, FieldRule::kShare},      {"EC", BCF_HL_FMT, FieldRule::kRemoved},
    {"GLE", BCF_HL_FMT, FieldRule::kRemoved},    {"LAA", BCF_HL_FMT, FieldRule::kRemoved},
    {"LGT", BCF_HL_FMT, FieldRule::kRemoved},    {"LAD", BCF_HL_FMT, FieldRule::kRemoved},
    {"LADF", BCF_HL_FMT, FieldRule::kRemoved},   {"LADR", BCF_HL_FMT, FieldRule::kRemoved},
    {"LEC", BCF_HL_FMT, FieldRule::kRemoved},    {"LGL", BCF_HL_FMT, FieldRule::kRemoved},
    {"LGP", BCF_HL_FMT, FieldRule::kRemoved},    {"LPL", BCF_HL_FMT, FieldRule::kRemoved},
    {"LPP", BCF_HL_FMT, FieldRule::kRemoved}};

// Where a word of a name stands, which _ divides: AF in EUR_AF and AF_afr; npos if it does not.
std::size_t word_in(std::string_view id, std::string_view word) {
  for (std::size_t from = 0; from <= id.size();) {
    const std::size_t end = std::min(id.find('_', from), id.size());
    if (id.substr(from, end - from) == word) return from;
    from = end + 1;
  }
  return std::string_view::npos;
}

bool is_number(const bcf_hdr_t* header, int column, int key) {
  const auto type = bcf_hdr_id2type(header, column, key);
  return type == BCF_HT_INT || type == BCF_HT_REAL;
}

// Counts and shares of ALT in all samples, and in populations. The population in which ALT is the
// most frequent is another one for REF.
FieldRule rule_by_words(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  if (column != BCF_HL_INFO) return FieldRule::kStays;
  if (id != "AC" && id != "AF" && !is_number(header, column, key)) return FieldRule::kStays;
  const bool is_count = word_in(id, "AC") != std::string_view::npos;
  const bool is_share = word_in(id, "AF") != std::string_view::npos;
  if (!is_count && !is_share) return FieldRule::kStays;
  if (id.find("max") != std::string_view::npos) return FieldRule::kRemoved;
  return is_count ? FieldRule::kCount : FieldRule::kShare;
}

// Whether a field has Number=LA, LR or LG, which not every version of htslib knows.
bool is_by_local_allele(const bcf_hdr_t* header, int column, int key) {
  bcf_hrec_t* const declared = bcf_hdr_id2hrec(header, BCF_DT_ID, column, key);
  const int number = declared == nullptr ? -1 : bcf_hrec_find_key(declared, "Number");
  return number >= 0 && declared->vals[number][0] == 'L';
}

FieldRule rule_by_number(const bcf_hdr_t* header, int column, int key) {
  switch (bcf_hdr_id2length(header, column, key)) {
    case BCF_VL_A:
      return FieldRule::kRemoved;
    case BCF_VL_R:
      return FieldRule::kByAllele;
    case BCF_VL_G:
      return FieldRule::kByGenotype;
    default:
      return is_by_local_allele(header, column, key) ? FieldRule::kRemoved : FieldRule::kStays;
  }
}

}  // namespace

FieldRule field_rule(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  for (const auto& field : kKnown) {
    if (field.column == column && field.id == id) return field.rule;
  }
  const FieldRule by_words = rule_by_words(header, column, key);
  return by_words != FieldRule::kStays ? by_words : rule_by_number(header, column, key);
}

std::string count_of_all(std::string_view id) {
  std::string all(id);
  all[word_in(id, "AC") + 1] = 'N';
  return all;
}

}  // namespace ancify

#endif
