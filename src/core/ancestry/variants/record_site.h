// What a record of a variant file tells of a polymorphic site: its alleles and their counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

// The columns of these samples, or of all if there are none. InputError if one is not there.
std::vector<std::size_t> columns_of(const std::vector<std::string>& samples,
                                    const VariantReader& reader);

// The site of the reader's record, without a pattern. None unless the record has two single-base
// alleles, which both occur in the samples. A record without GT varies with unknown counts, in as
// many haplotypes as the history has.
std::optional<PolymorphicSite> site_of_record(VariantReader& reader,
                                              const std::vector<std::size_t>& samples,
                                              const History& history);

}  // namespace ancify
