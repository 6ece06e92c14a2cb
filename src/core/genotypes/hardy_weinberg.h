// The exact test of Hardy-Weinberg equilibrium.
#pragma once

#include <cstdint>

namespace ancify {

// The p-value of these genotype counts, none below 0: the probability, given both allele counts,
// of all heterozygote counts that are no likelier than the observed one. 1 without
// genotypes.
double hardy_weinberg_p(std::int64_t heterozygotes, std::int64_t homozygotes,
                        std::int64_t other_homozygotes);

}  // namespace ancify
