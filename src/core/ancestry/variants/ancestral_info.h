// Ancestral alleles that a VCF or BCF has in INFO.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/variants/allele_state.h"
#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// The content of a record's AA. By convention of the 1000 Genomes Project an upper-case base has
// high confidence and one in lower case low; '.' is unknown, '-' a gap of the ancestor, and N
// undecided. More may follow after a bar.
enum class AncestralLetter { kHigh, kLow, kDot, kGap, kN, kOther, kAbsent };

constexpr std::size_t kAncestralLetters = 7;
extern const std::array<const char*, kAncestralLetters> kAncestralLetterNames;
using AncestralLetterCounts = std::array<std::int64_t, kAncestralLetters>;

struct AncestralValue {
  AncestralLetter letter;
  char call;  // the base or letter as written; 'N' for text of other lengths, and for none
};
AncestralValue ancestral_value(VariantReader& reader);

// The allele that AA names, if all of it is in upper case (high confidence) or in lower case (low).
AlleleState allele_state_of_info(VariantReader& reader);

struct AllelePosterior {
  double probability;
  bool of_sample;  // by the sample's counts too, as AA_post is, and not by outgroups alone
};

// The posterior of the ancestral base, given that it is one of these two, from AA_post or AA_prob;
// none if the record has neither. `ancestral` and `derived`: codes of bases. FormatError if a
// number is not a probability.
std::optional<AllelePosterior> ancestral_posterior(VariantReader& reader, int ancestral,
                                                   int derived);

// A record with two single-base alleles, one of them ancestral.
struct AncestralRecord {
  std::string chromosome;
  std::int64_t position;
  char ref;
  char alt;
  double ref_is_ancestral;  // a probability
};

// All such records of a file, in its order.
std::vector<AncestralRecord> read_ancestral_records(const std::string& path, JobControl& control);

}  // namespace ancify
