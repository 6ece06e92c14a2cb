// The other strand of a sequence.
#pragma once

#include <string>
#include <string_view>

#include "core/genome/bases.h"

namespace ancify {

// The code of the base on the other strand; a missing base stays missing.
constexpr int complement(int base) { return base < kBases ? kBases - 1 - base : base; }

// Writes the reverse complement to `out`. Bases and IUPAC codes keep their case; other characters,
// such as gaps, are unchanged.
void reverse_complement(std::string_view row, std::string& out);

}  // namespace ancify
