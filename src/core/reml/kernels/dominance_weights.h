// Kernels of dominance as weighted blocks: a variant's columns of calls and of heterozygosity make
// one block.
#pragma once

#include <cstdint>
#include <vector>

#include "core/genotypes/genotype_matrix.h"
#include "core/reml/kernels/weighted_kernels.h"

namespace ancify::reml {

struct DominanceWeights {
  // For WeightedKernels, whose scale power is 0. They refer to `values`.
  std::vector<WeightBlock> blocks() const;

  std::vector<double> values;  // 2 x 2 for each variant
  double divisor = 0;          // c
  double trace = 0;            // of the kernel, times c
};

// The code of a variant with the allele frequency p is 0, 2p and 4p - 2 for 0, 1 and 2 copies,
// minus its mean, times v^(scale_power / 2); v = (2p(1 - p))^2 is its variance in Hardy-Weinberg
// equilibrium. c = sum v^(1 + scale_power). `matrix`: of HeterozygoteCalls. InputError if no
// variant varies.
DominanceWeights dominance_weights(const GenotypeMatrix& matrix, double scale_power);

}  // namespace ancify::reml
