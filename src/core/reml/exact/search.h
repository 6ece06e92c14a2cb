// The search for the largest restricted likelihood of an exact model.
#pragma once

#include <string>
#include <vector>

#include "core/reml/exact/exact_model.h"
#include "core/reml/fit/fit.h"

namespace ancify::reml {

// The end point of a search, at which the model is left.
struct Maximum {
  std::vector<double> theta;
  double log_likelihood = 0;
  Derivatives derivatives;
  std::vector<double> information;  // average or expected, as requested
  std::vector<char> at_bound;
  bool converged = false;
  std::string status;
  std::string message;
  std::vector<Iteration> iterations;
};

// Searches from `settings.start`, or from the model's own starts. `settings.lower` has no NaN.
// Returns no theta if H is not positive definite at any start.
Maximum search(ExactModel& model, const SearchSettings& settings);

}  // namespace ancify::reml
