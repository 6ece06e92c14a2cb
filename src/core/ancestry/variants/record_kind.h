// Kinds of records of a variant file, by their alleles.
#pragma once

#include <string_view>

#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"

namespace ancify {

inline bool has_only_bases(std::string_view allele) {
  for (const char c : allele) {
    if (base_code(c) == kMissing) return false;
  }
  return !allele.empty();
}

// True if all alleles are of A, C, G and T, and one has several. There is an ALT.
inline bool is_indel(const VariantReader& reader) {
  bool has_several = false;
  for (int i = 0; i < reader.alleles(); ++i) {
    if (!has_only_bases(reader.allele(i))) return false;
    has_several = has_several || reader.allele(i).size() > 1;
  }
  return has_several && reader.alleles() > 1 && reader.position() > 0;
}

}  // namespace ancify
