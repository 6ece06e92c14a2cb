// LD scores: sums of squared correlations of a variant with the variants in its window.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

// By variant. A pair of which one variant is constant has no correlation and is left out. So a
// constant variant has no variants, and scores of 0.
struct LdScores {
  std::vector<double> score;       // sum of r^2, with 1 for the variant itself
  std::vector<double> corrected;   // sum of r^2 - (1 - r^2) / (n - 2) for n samples
  std::vector<double> n_variants;  // in the sums, with the variant itself
};

// A pair counts the samples with calls at both variants. `ends`: for each selected variant the end
// of the window on its right, which never decreases. Packed calls take `memory` bytes or less.
// Results do not depend on memory, threads or `simd`. InputError for an invalid selection, or if
// the calls of a window need more memory.
LdScores ld_scores(const GenotypeFile& file, const GenotypeSelection& selection,
                   const std::vector<std::int64_t>& ends, std::int64_t memory, SimdLevel simd,
                   int threads, JobControl& control);

}  // namespace ancify
