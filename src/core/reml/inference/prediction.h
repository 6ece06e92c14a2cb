// Genetic values of samples outside the fit.
#pragma once

#include <vector>

#include "core/exec/job_control.h"
#include "core/genotypes/genotype_matrix.h"

namespace ancify::reml {

// sum_j effects_j (g_ij - means_j) of each sample i over its observed calls g. A variant with
// effect 0 is left out. `matrix` has a variant for each effect.
std::vector<double> genetic_values(const GenotypeMatrix& matrix, const std::vector<double>& means,
                                   const std::vector<double>& effects, JobControl& control);

}  // namespace ancify::reml
