// The possible placements of an insertion or deletion, and the allele of a record that another
// genome has there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ancify {

// In a repeat the same change can be written at several positions, and variant callers and aligners
// choose different ones. So alleles are compared as sequences of the whole stretch in which the
// change can be placed. Positions count from 0.
struct IndelWindow {
  std::int64_t start = 0;            // the stretch: start, ..., end - 1, which may be empty
  std::int64_t end = 0;              // both neighbours of the stretch are in the genome
  std::vector<std::string> alleles;  // the stretch under each allele; REF is the first
  bool is_valid = false;             // whether REF is in the genome, and the stretch has neighbours
};

// The window of a record at `position`. `alleles`: A, C, G and T in either case; REF is the first.
IndelWindow window_of(const std::vector<std::string_view>& alleles, std::int64_t position,
                      const std::string& genome);

// States of a genome in a window that has none of the alleles.
constexpr int kOtherAllele = -1;
constexpr int kUnknownAllele = -2;

// The index of the allele that `sequence` shows: an allele of its length, as substitutions hide no
// insertion or deletion; of several, the allele with the fewest differences. kOtherAllele if
// none or several match equally well, or if more than half of the bases differ.
int allele_like(const IndelWindow& window, std::string_view sequence);

}  // namespace ancify
