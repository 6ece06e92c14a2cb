// Sparse effects of variants besides a fit's kernels: the path of the lasso at fixed variances.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_matrix.h"
#include "core/reml/fit/fixed_effects.h"
#include "core/reml/inference/projection.h"

namespace ancify::reml {

struct SparseSettings {
  double scale_power = -1;      // of the columns z, as in GenotypeKernels
  std::vector<double> lambda;   // decreasing; empty for 60 steps down to 0.05 max|z'Py|
  std::int64_t candidates = 0;  // initial candidate variants
  std::int64_t most = 0;        // largest number whose products fit in memory
};

// The minima of 1/2 b'Qb - q'b + lambda |b|_1 over all variants, Q = Z'PZ and q = Z'Py.
struct SparsePath {
  std::vector<double> lambda;
  std::int64_t tested = 0;             // variants that vary beyond the fixed effects
  std::vector<std::int64_t> variants;  // the candidates; no other has an effect
  std::vector<double> effects;         // of z, candidates x lambda
  std::vector<double> rss;             // y'Py - 2b'q + b'Qb
  std::vector<double> violation;       // the largest of all variants, as a share of max|z'Py|
  std::vector<double> residuals;       // P (y - Zb), n x lambda
  // The number of candidates that the path needs, if it exceeds `most` and the path is unfinished;
  // else 0.
  std::int64_t needed = 0;
};

// Opens some of the tested variants.
using OpenVariants =
    std::function<std::unique_ptr<GenotypeMatrix>(const std::vector<std::int64_t>& variants)>;

// `matrix`: the tested variants. InputError if no variant varies, or from `projection`.
SparsePath sparse_path(const GenotypeMatrix& matrix, const OpenVariants& open,
                       const Projection& projection, const FixedEffects& fixed,
                       const SparseSettings& settings, JobControl& control);

}  // namespace ancify::reml
