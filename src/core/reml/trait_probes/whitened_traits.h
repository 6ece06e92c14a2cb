// The response of a fit of several traits by probes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/multivariate/trait_study.h"
#include "core/reml/trait_probes/trait_values.h"

namespace ancify::reml {

// The covariance of the traits beyond their fixed effects, from samples with both; t x t, positive
// definite.
std::vector<double> phenotypic_covariance(const std::vector<Trait>& traits, std::size_t samples);

// The whitened traits as one response, with a basis of all fixed effects, and names of the kernels
// of TraitKernels. `names`: of the genetic components.
FitData whitened_data(const TraitStudy& study, const TraitValues& values,
                      const std::vector<std::string>& names);

}  // namespace ancify::reml
