// Variants that lie together, with the patterns of calls that samples have of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/genotypes/quads.h"

namespace ancify {

// Some variants of a block, and what calls of them go together. Neighbours are correlated, so there
// are far fewer patterns than calls could make.
struct CallPatterns {
  std::vector<std::uint8_t> variants;
  std::vector<std::uint8_t> numbers;  // of each sample's pattern, and zeros up to quad_stride()
  std::vector<std::uint8_t> calls;    // of each variant, the call of each pattern
  int count = 0;                      // of patterns, at most 256
};

// Divides variants of a block into groups of few patterns. `rows`: the block's quads, of n samples.
std::vector<CallPatterns> find_patterns(const std::uint8_t* rows, std::int64_t n,
                                        const std::vector<std::uint8_t>& variants);

// For each pattern of a variant (from 0) of the group, what its call stands for.
void values_of_patterns(const CallPatterns& patterns, int variant,
                        const std::array<double, 4>& of_call, double* values);

}  // namespace ancify
