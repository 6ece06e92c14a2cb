// Decodes the block of a variant in a BGEN file of layout 2: the probabilities of its genotypes.
// Source: The BGEN format, version 1.2, "Genotype data block (layout 2)".
#pragma once

#include <cstdint>
#include <string_view>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// Decodes an inflated block of a variant of two alleles to dosages of the second one, and returns
// their unit. They are exact for up to 14 bits, and rounded to the nearest step otherwise. Each of
// `samples` must have at most two copies; one without copies is missing, and a haploid one counts
// twice. Throws InputError with the problem of any other block.
int dose_bgen_block(std::string_view block, std::int64_t samples, Dosage* dosages);

// Makes calls of such a block, in (samples + 3) / 4 bytes as GenotypeFile::read() does. As in
// PLINK 2, the call is the nearest whole number of copies if the dosage is at most `threshold`
// away, and missing otherwise. A haploid sample is never heterozygous. At a threshold of 0.5, all
// dosages have calls.
void call_bgen_block(std::string_view block, std::int64_t samples, double threshold,
                     std::uint8_t* calls);

// The most bytes of a block of this many samples.
constexpr std::int64_t largest_bgen_block(std::int64_t samples) { return 10 + 9 * samples; }

}  // namespace ancify
