// A fit of several components: average-information steps by few probes, then many probes where
// these steps end.
#pragma once

#include "core/reml/covariance.h"
#include "core/reml/stochastic_fit.h"

namespace ancify::reml {

// `state` is where it goes on from. Bounds have no NaN. InputError for expected information, of
// which this path has none.
Fit fit_several_components(const RestrictedModel& model, const StochasticSettings& settings,
                           StochasticState state,
                           const std::function<void(const StochasticState&)>& save);

}  // namespace ancify::reml
