// The ancestral allele of a record whose alleles are not all single bases.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/variant/variant_file.h"

namespace ancify {

enum class AlleleCall {
  kMissing,  // no data
  kUnresolved,
  kOther,  // a sequence that is no allele of the record
  kLow,    // an allele, with low confidence
  kHigh    // an allele, with high confidence
};

struct AlleleState {
  AlleleCall call = AlleleCall::kMissing;
  int allele = 0;  // its index, for kLow and kHigh
};

// The state of the reader's record. `reference`: the focal genome's sequence of its chromosome.
using AlleleStateOf =
    std::function<AlleleState(const VariantReader& reader, const std::string& reference)>;

}  // namespace ancify
