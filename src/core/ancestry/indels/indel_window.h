// Where an insertion or deletion can be placed, and which of a record's alleles another genome has
// there.
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

// What a genome has in a window, if not one of the alleles.
constexpr int kOtherAllele = -1;
constexpr int kUnknownAllele = -2;

// The index of the allele that `sequence` is: the one of its length, as substitutions hide no
// insertion or deletion. Of several, that with the fewest differences. kOtherAllele if there is
// none or several are equally near, or if more than half of the bases differ.
int allele_like(const IndelWindow& window, std::string_view sequence);

}  // namespace ancify
