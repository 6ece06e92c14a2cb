// The polymorphic site of a variant file's record: its alleles and their counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// The samples whose alleles are counted.
struct CountedSamples {
  // The given samples, or all without any; or the samples counted by the `named` fields of INFO,
  // even with genotypes. InputError if a sample is missing, FormatError if a field is not declared.
  CountedSamples(const std::vector<std::string>& samples, const VariantReader& reader,
                 const std::optional<CountFields>& named = {});

  std::vector<std::size_t> columns;
  std::optional<CountFields> fields;  // that count these samples, if any do
  bool only_fields;                   // whether genotypes are not to be used
};

// The site of the reader's record, without a pattern. None unless the record has two single-base
// alleles, which both occur in the samples. Counts come from GT or, without it, from fields of
// INFO. Without either, the site varies with unknown counts, among `haplotypes`.
std::optional<PolymorphicSite> site_of_record(VariantReader& reader, const CountedSamples& samples,
                                              int haplotypes);

}  // namespace ancify
