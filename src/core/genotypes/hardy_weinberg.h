// The exact test of Hardy-Weinberg equilibrium.
#pragma once

#include <cstdint>

namespace ancify {

// The p-value of these numbers of genotypes, none below 0: the probability, given the numbers of
// both alleles, of numbers of heterozygotes that are no likelier than this one. 1 without
// genotypes.
double hardy_weinberg_p(std::int64_t heterozygotes, std::int64_t homozygotes,
                        std::int64_t other_homozygotes);

}  // namespace ancify
