// The other strand of a sequence.
#pragma once

#include <string>
#include <string_view>

namespace ancify {

// Writes the reverse complement to `out`. Bases and IUPAC codes keep their case; other characters,
// such as gaps, are unchanged.
void reverse_complement(std::string_view row, std::string& out);

}  // namespace ancify
