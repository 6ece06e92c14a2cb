// A fit of one kernel and an identity residual: one Lanczos run for the response and each probe
// gives the likelihood at every theta.
#pragma once

#include "core/reml/solvers/covariance.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

// `state`: the state to resume from. Bounds have no NaN.
Fit fit_one_component(const RestrictedModel& model, const StochasticSettings& settings,
                      StochasticState state,
                      const std::function<void(const StochasticState&)>& save);

}  // namespace ancify::reml
