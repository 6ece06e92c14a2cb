// A fit of several components: average-information steps by few probes, then many probes at their
// end point.
#pragma once

#include "core/reml/solvers/covariance.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

// `state`: the state to resume from. Bounds have no NaN. InputError for expected information, which
// this path does not provide.
Fit fit_several_components(const RestrictedModel& model, const StochasticSettings& settings,
                           StochasticState state,
                           const std::function<void(const StochasticState&)>& save);

}  // namespace ancify::reml
