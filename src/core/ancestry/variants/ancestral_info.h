// Ancestral alleles that a VCF or BCF has in INFO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// The base of AA, 'N' for none. The 1000 Genomes Project writes more after a bar.
char ancestral_base(VariantReader& reader);

// The posterior of the ancestral base, given that it is one of these two, from AA_post or AA_prob;
// none if the record has neither. `ancestral` and `derived`: codes of bases. FormatError if a
// number is not a probability.
std::optional<double> ancestral_posterior(VariantReader& reader, int ancestral, int derived);

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
