// The log-determinant of a covariance by probes.
#pragma once

#include "core/reml/solvers/preconditioner.h"
#include "core/reml/solvers/probes.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

struct LogDeterminant {
  double value = 0;
  double error = 0;     // SD of the Monte Carlo error
  bool reached = true;  // whether all quadratures are accurate
};

// log|SHS| on the complement by the first `count` probes. `least`: a lower bound of the eigenvalues
// of SHS, or NaN if none is known.
LogDeterminant log_determinant(const RestrictedCovariance& covariance, const Sketch& sketch,
                               const Probes& probes, int count, double least,
                               const StochasticSettings& settings);

}  // namespace ancify::reml
