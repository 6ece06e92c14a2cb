// The solution of a fit at its theta: P y, the genetic values, and the fixed effects.
#pragma once

#include <string>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/solvers/conjugate_gradients.h"

namespace ancify::reml {

// Relative residuals that solves must reach.
struct SolveTolerances {
  // Tolerances for a search that ends when s'I^-1 s is below `tolerance`.
  explicit SolveTolerances(double tolerance);

  double response;  // of y, and of columns of average information
  double probes;    // of probes, and of the effects' covariance, whose error is quadratic
};

// solve() for any number of columns, at most `at_once` together.
bool solve_columns(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                   const double* b, const std::vector<double>& tolerance, int at_once, double* x);

// K_g v for each component, n x G.
std::vector<double> kernel_products(const RestrictedModel& model, const double* v);

// A fit's message for an unsolved column.
std::string unsolved_message();

// Fills in residual_projection, which may hold a starting point, genetic, coefficients and their
// covariance. Returns false if a column was not solved.
bool add_solution(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                  const SolveTolerances& tolerances, int at_once, Fit& fit);

// The fit, which has not converged if a column was not solved, with its number of passes.
Fit ended(Fit fit, bool solved, double passes);

}  // namespace ancify::reml
