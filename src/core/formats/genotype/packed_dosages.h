// Packs numbers of copies as dosages and calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/genotype/memory_genotypes.h"

namespace ancify {

// Adds a variant, given each sample's number of copies from 0 to 2, or NaN if it is missing. The
// unit is one in which all numbers are whole, to within `error` copies: 1, 255, 1000 or 10000. If
// there is none, numbers are rounded to 1 / kMostUnit. The call is the nearest whole number of
// copies if it is at most 0.1 away, as in PLINK 2. Returns how many numbers are rounded.
std::int64_t add_dosages(const std::vector<double>& copies, double error, PackedGenotypes& packed);

}  // namespace ancify
