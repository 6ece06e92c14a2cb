// What belongs to a fit at its theta, beyond the search: P y, the genetic values, and the fixed
// effects.
#pragma once

#include <string>
#include <vector>

#include "core/reml/conjugate_gradients.h"
#include "core/reml/fit.h"

namespace ancify::reml {

// Relative residuals that solves must reach.
struct SolveTolerances {
  // For a search that goes on until s'I^-1 s is below `tolerance`.
  explicit SolveTolerances(double tolerance);

  double response;  // of y, and of columns of average information
  double probes;    // of probes, and of the effects' covariance, whose error is a square
};

// solve() for any number of columns, at most `at_once` together.
bool solve_columns(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                   const double* b, const std::vector<double>& tolerance, int at_once, double* x);

// K_g v for each component, n x G.
std::vector<double> kernel_products(const RestrictedModel& model, const double* v);

// What a fit says of a column that was not solved.
std::string unsolved_message();

// Fills in residual_projection, which may have a start, genetic, coefficients and their covariance.
// False if a column was not solved.
bool add_solution(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                  const SolveTolerances& tolerances, int at_once, Fit& fit);

}  // namespace ancify::reml
