// Finds the rule of a field by its name if it is known, or else by its Number.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/allele_fields.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ancify {

namespace {

struct KnownField {
  std::string_view id;
  int column;
  FieldRule rule;
};

// Fields of INFO or FORMAT that describe one allele alone, or compare ALT with REF. Widely used
// programs declare them with Number=1 or Number=. nevertheless. They are read counts and qualities
// of freebayes, VarScan, VarDict, Platypus, iVar and Torrent's caller, and shares of reads. Others
// are strand and rank tests of freebayes, GATK and bcftools, VarScan's numbers of samples by
// genotype, and frequencies and haplotypes of STITCH, QUILT and GLIMPSE.
constexpr std::string_view kOfOneAllele[] = {"RO",
                                             "AO",
                                             "QR",
                                             "QA",
                                             "PRO",
                                             "PAO",
                                             "PQR",
                                             "PQA",
                                             "SRF",
                                             "SRR",
                                             "SAF",
                                             "SAR",
                                             "SRP",
                                             "SAP",
                                             "AB",
                                             "ABP",
                                             "RPL",
                                             "RPR",
                                             "RPP",
                                             "RPPR",
                                             "EPP",
                                             "EPPR",
                                             "MQM",
                                             "MQMR",
                                             "PAIRED",
                                             "PAIREDR",
                                             "RD",
                                             "RDF",
                                             "RDR",
                                             "RBQ",
                                             "ABQ",
                                             "FREQ",
                                             "CAF",
                                             "TOPMED",
                                             "AC1",
                                             "AF1",
                                             "G3",
                                             "FR",
                                             "DV",
                                             "NV",
                                             "TR",
                                             "NF",
                                             "REF_DP",
                                             "REF_RV",
                                             "REF_QUAL",
                                             "ALT_DP",
                                             "ALT_RV",
                                             "ALT_QUAL",
                                             "ALT_FREQ",
                                             "BaseQRankSum",
                                             "MQRankSum",
                                             "ReadPosRankSum",
                                             "ClippingRankSum",
                                             "LikelihoodRankSum",
                                             "RPBZ",
                                             "MQBZ",
                                             "BQBZ",
                                             "SCBZ",
                                             "NMBZ",
                                             "VAF",
                                             "VAF1",
                                             "VF",
                                             "VD",
                                             "ALD",
                                             "HIAF",
                                             "ADJAF",
                                             "REFBIAS",
                                             "VARBIAS",
                                             "FAO",
                                             "FRO",
                                             "FSAF",
                                             "FSAR",
                                             "FSRF",
                                             "FSRR",
                                             "I16",
                                             "WT",
                                             "HOM",
                                             "EAF",
                                             "EAC",
                                             "ERC",
                                             "PAF",
                                             "HD",
                                             "OHD",
                                             "HS"};

// Names in kOfOneAllele with other meanings in other programs, such as RD for the depth of all
// reads and TR for tandem repeats. They count only if their Description mentions an allele, or
// haplotypes by their alleles.
constexpr std::string_view kCommonNames[] = {"AB",  "DV",  "FR", "FREQ", "NF",  "NV",  "RD",
                                             "TR",  "VD",  "VF", "WT",   "HOM", "EAF", "EAC",
                                             "ERC", "PAF", "HD", "OHD",  "HS"};
constexpr std::string_view kOfAlleles[] = {"allel",   "alternat",    "referenc",
                                           "variant", "haploid dos", "sampled haplotype"};

// Words, in lower case, in the names of fields about ALT in populations that cannot be converted to
// REF: the population with the highest frequency, lower bounds of frequencies, and homozygotes.
constexpr std::string_view kWordsOfAlt[] = {"popmax", "grpmax", "faf95", "faf99", "nhomalt"};

// Fields that VCF reserves, because older files declare them differently, mostly with Number=. or
// 1. Also fields of widely used programs whose declarations do not state their meaning: DP4 of
// bcftools, PGT of GATK, the doses and shares of imputation programs. Fields that name alleles in
// their own ways (GLE, and local alleles from VCF 4.5 on) cannot be recomputed.
constexpr KnownField kKnown[] = {
    {"AA", BCF_HL_INFO, FieldRule::kStays},     {"END", BCF_HL_INFO, FieldRule::kLength},
    {"SVLEN", BCF_HL_INFO, FieldRule::kLength}, {"CIGAR", BCF_HL_INFO, FieldRule::kRemoved},
    {"AD", BCF_HL_INFO, FieldRule::kByAllele},  {"ADF", BCF_HL_INFO, FieldRule::kByAllele},
    {"ADR", BCF_HL_INFO, FieldRule::kByAllele}, {"DP4", BCF_HL_INFO, FieldRule::kByStrand},
    {"LDAF", BCF_HL_INFO, FieldRule::kShare},   {"AD", BCF_HL_FMT, FieldRule::kByAllele},
    {"ADF", BCF_HL_FMT, FieldRule::kByAllele},  {"ADR", BCF_HL_FMT, FieldRule::kByAllele},
    {"GL", BCF_HL_FMT, FieldRule::kByGenotype}, {"GP", BCF_HL_FMT, FieldRule::kByGenotype},
    {"PL", BCF_HL_FMT, FieldRule::kByGenotype}, {"PP", BCF_HL_FMT, FieldRule::kByGenotype},
    {"DP4", BCF_HL_FMT, FieldRule::kByStrand},  {"PGT", BCF_HL_FMT, FieldRule::kPhased},
    {"DS", BCF_HL_FMT, FieldRule::kDose},       {"HDS", BCF_HL_FMT, FieldRule::kShare},
    {"AP1", BCF_HL_FMT, FieldRule::kShare},     {"AP2", BCF_HL_FMT, FieldRule::kShare},
    {"EC", BCF_HL_FMT, FieldRule::kRemoved},    {"SB", BCF_HL_FMT, FieldRule::kByStrand},
    {"SAC", BCF_HL_FMT, FieldRule::kByStrand},  {"GLE", BCF_HL_FMT, FieldRule::kRemoved},
    {"LAA", BCF_HL_FMT, FieldRule::kRemoved},   {"LGT", BCF_HL_FMT, FieldRule::kRemoved},
    {"LAD", BCF_HL_FMT, FieldRule::kRemoved},   {"LADF", BCF_HL_FMT, FieldRule::kRemoved},
    {"LADR", BCF_HL_FMT, FieldRule::kRemoved},  {"LEC", BCF_HL_FMT, FieldRule::kRemoved},
    {"LGL", BCF_HL_FMT, FieldRule::kRemoved},   {"LGP", BCF_HL_FMT, FieldRule::kRemoved},
    {"LPL", BCF_HL_FMT, FieldRule::kRemoved},   {"LPP", BCF_HL_FMT, FieldRule::kRemoved}};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return lower;
}

// The position of a word in a name whose words are separated by _, such as "af" in EUR_AF and
// AF_afr; npos if absent. Programs differ in the case of such names.
std::size_t word_in(std::string_view id, std::string_view word) {
  const std::string name = in_lower_case(id);
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t end = std::min(name.find('_', from), name.size());
    if (std::string_view(name).substr(from, end - from) == word) return from;
    from = end + 1;
  }
  return std::string_view::npos;
}

bool has_word(std::string_view id, std::string_view word) {
  return word_in(id, word) != std::string_view::npos;
}

// True if a field describes the population with the largest or smallest value, which may be another
// population for REF.
bool is_extreme(std::string_view id) {
  const std::string name = in_lower_case(id);
  return name.find("max") != std::string::npos || name.find("min") != std::string::npos;
}

bool is_number(const bcf_hdr_t* header, int column, int key) {
  const auto type = bcf_hdr_id2type(header, column, key);
  return type == BCF_HT_INT || type == BCF_HT_REAL;
}

// The rule for counts and shares of ALT in all samples, in populations, and in a sample's reads.
// FORMAT has no count of all copies, from which a sample's count could be computed.
FieldRule rule_by_words(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  if (bcf_hdr_id2type(header, column, key) == BCF_HT_FLAG) return FieldRule::kStays;
  if (std::any_of(std::begin(kWordsOfAlt), std::end(kWordsOfAlt),
                  [id](std::string_view word) { return has_word(id, word); })) {
    return FieldRule::kRemoved;
  }
  const bool is_count = has_word(id, "ac");
  const bool is_share = has_word(id, "af");
  if (!is_count && !is_share) return FieldRule::kStays;
  if (is_extreme(id)) return FieldRule::kRemoved;
  if (id != "AC" && id != "AF" && !is_number(header, column, key)) {
    // Names of accessions end in AC, as NCBI_AC does; names of populations' counts begin with it.
    return is_share || word_in(id, "ac") == 0 ? FieldRule::kNumber : FieldRule::kStays;
  }
  if (!is_count) return FieldRule::kShare;
  return column == BCF_HL_INFO ? FieldRule::kCount : FieldRule::kRemoved;
}

// True if a field is a text of GATK with a part for each allele, such as AS_SB_TABLE=1,2|20,21.
bool is_text_by_allele(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  return id.substr(0, 3) == "AS_" && bcf_hdr_id2type(header, column, key) == BCF_HT_STR;
}

// True if a field has Number=LA, LR or LG, which not every version of htslib knows.
bool is_by_local_allele(const bcf_hdr_t* header, int column, int key) {
  bcf_hrec_t* const declared = bcf_hdr_id2hrec(header, BCF_DT_ID, column, key);
  const int number = declared == nullptr ? -1 : bcf_hrec_find_key(declared, "Number");
  return number >= 0 && declared->vals[number][0] == 'L';
}

std::string lower_description(const bcf_hdr_t* header, int column, int key) {
  bcf_hrec_t* const declared = bcf_hdr_id2hrec(header, BCF_DT_ID, column, key);
  const int at = declared == nullptr ? -1 : bcf_hrec_find_key(declared, "Description");
  return in_lower_case(at < 0 ? "" : declared->vals[at]);
}

bool is_of_one_allele(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  const auto has = [id](const auto& names) {
    return std::find(std::begin(names), std::end(names), id) != std::end(names);
  };
  if (!has(kOfOneAllele) || !has(kCommonNames)) return has(kOfOneAllele);
  const std::string description = lower_description(header, column, key);
  return std::any_of(std::begin(kOfAlleles), std::end(kOfAlleles), [&](std::string_view word) {
    return description.find(word) != std::string::npos;
  });
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
      return is_by_local_allele(header, column, key) || is_text_by_allele(header, column, key)
                 ? FieldRule::kRemoved
                 : FieldRule::kStays;
  }
}

}  // namespace

FieldRule field_rule(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  for (const auto& field : kKnown) {
    if (field.column == column && field.id == id) return field.rule;
  }
  if (is_of_one_allele(header, column, key)) return FieldRule::kRemoved;
  const FieldRule by_words = rule_by_words(header, column, key);
  return by_words != FieldRule::kStays ? by_words : rule_by_number(header, column, key);
}

std::string count_of_all(std::string_view id) {
  std::string all(id);
  char& c = all[word_in(id, "ac") + 1];
  c = c == 'c' ? 'n' : 'N';
  return all;
}

}  // namespace ancify

#endif
