// REML of several traits by products with kernels alone, and traces by random probes.
#pragma once

#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"
#include "core/reml/multivariate/trait_study.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

// Fits traits with any kernels and any missing values. Traits share each pass. Start, bounds and
// the user's matrix of probes in `settings` are not used. InputError for data or kernels that
// cannot be fitted; Interrupted within a second of a stop request.
TraitFit fit_traits_by_probes(const TraitData& data, Kernels& kernels,
                              const StochasticSettings& settings, const Workers& workers);

}  // namespace ancify::reml
