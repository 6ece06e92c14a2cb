// Score and average information at a theta, by solves.
#pragma once

#include <vector>

#include "core/reml/solvers/traces.h"
#include "core/reml/stochastic/probe_plan.h"
#include "core/reml/stochastic/solution.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

// Computes points of a search with fixed probes. All constructor arguments must outlive it.
class PointSolver {
 public:
  PointSolver(const RestrictedModel& model, const StochasticSettings& settings)
      : model_(model), settings_(settings), tolerances_(settings.search.tolerance) {}

  // The point at theta by `count` probes from index `number` on. `tolerance`: of the response's
  // solves. `start`: a nearby point, whose solutions start the solves; it may be empty. InputError
  // for a kernel with a negative eigenvalue; NotPositive.
  ProbePoint at(const std::vector<double>& theta, const Sketch& sketch, const Probes& probes,
                int number, int count, double tolerance, const ProbePoint& start);
  // The values of `count` probes from index `first` on.
  ProbeValues values(const std::vector<double>& theta, const Sketch& sketch, const Probes& probes,
                     int first, int count);
  // True if all solves reached their residuals.
  bool solved() const { return solved_; }

 private:
  void add_response(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                    double tolerance, ProbePoint& point);

  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  SolveTolerances tolerances_;
  bool solved_ = true;
};

// Score, average information and P y at theta, by `settings.probes` probes. Errors as above, and
// InputError if a column was not solved.
LikelihoodPoint stochastic_point(const FitData& data, Kernels& kernels,
                                 const StochasticSettings& settings,
                                 const std::vector<double>& theta, const Workers& workers);

}  // namespace ancify::reml
