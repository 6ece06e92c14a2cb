// REML of several traits, with kernels as dense matrices.
#pragma once

#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/multivariate/trait_search.h"
#include "core/reml/multivariate/trait_study.h"

namespace ancify::reml {

// Memory: four n x n matrices for one kernel and complete traits; otherwise one for each kernel,
// and three of the number of all values. InputError for data or kernels that cannot be fitted.
// Interrupted within a second of a stop request, but for the eigenvectors of one kernel.
TraitFit fit_traits(const TraitData& data, Kernels& kernels, const SearchSettings& settings,
                    const Workers& workers);

// The largest log-likelihood under each constraint. `theta`: the estimates without any.
std::vector<double> constrained_log_likelihoods(const TraitData& data, Kernels& kernels,
                                                const std::vector<double>& theta,
                                                const std::vector<TraitConstraint>& constraints,
                                                const SearchSettings& settings,
                                                const Workers& workers);

}  // namespace ancify::reml
