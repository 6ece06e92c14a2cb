// Logistic regression by a penalised likelihood, whose estimates are finite also where a variant
// separates cases from controls.
#pragma once

#include <vector>

namespace ancify::reml {

struct FirthEffect {
  double effect;  // NaN if the maximum is not found
  double error;   // its standard error
};

// The last of the coefficients b that maximise l(b) + log|D'W D| / 2, for logit(m) = offset + D b.
// `y`: 0 or 1; `rows`: the rows of D, one after the other.
FirthEffect firth_effect(const std::vector<double>& y, const std::vector<double>& offset,
                         const std::vector<double>& rows);

}  // namespace ancify::reml
