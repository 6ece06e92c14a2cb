// Solves SHS x = b for many columns at once.
#pragma once

#include <vector>

#include "core/reml/solvers/covariance.h"
#include "core/reml/solvers/preconditioner.h"

namespace ancify::reml {

// Preconditioned conjugate gradients for columns b on the complement; columns do not affect each
// other. `x` holds a starting point, and receives the solutions. Column c is solved when |b - SHS
// x| <= tolerance[c] |b|, for the true residual. Returns whether all columns are. NotPositive if
// v'Hv <= 0 for a direction.
bool solve(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
           int columns, const double* b, const std::vector<double>& tolerance, double* x);

}  // namespace ancify::reml
