// Groups of neighbouring variants, with the samples' patterns of calls.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/genotypes/quads.h"

namespace ancify {

// Some variants of a block, and the patterns of their calls. Neighbours are correlated, so far
// fewer patterns occur than are possible.
struct CallPatterns {
  std::vector<std::uint8_t> variants;
  std::vector<std::uint8_t> numbers;  // the index of each sample's pattern, and zeros up to
                                      // quad_stride()
  std::vector<std::uint8_t> calls;    // of each variant, the call of each pattern
  int count = 0;                      // of patterns, at most 256
};

// Divides variants of a block into groups of few patterns. `rows`: the block's quads, of n samples.
std::vector<CallPatterns> find_patterns(const std::uint8_t* rows, std::int64_t n,
                                        const std::vector<std::uint8_t>& variants);

// The value of the variant's call in each pattern; the group's variants count from 0.
void values_of_patterns(const CallPatterns& patterns, int variant,
                        const std::array<double, 4>& of_call, double* values);

}  // namespace ancify
