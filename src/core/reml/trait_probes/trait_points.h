// Score and average information of several traits at a theta, by solves.
#pragma once

#include <vector>

#include "core/reml/solvers/traces.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "core/reml/trait_probes/trait_kernels.h"

namespace ancify::reml {

// Results of probes and the response at a theta. P, y and A_i belong to the whitened values.
struct TraitPoint {
  std::vector<double> theta;
  std::vector<double> solutions;    // P y and P z of each probe, N x (1 + probes)
  std::vector<double> forms;        // y'P A_i P y
  std::vector<double> values;       // of each probe, as TraitPoints::values() gives them
  std::vector<double> information;  // average information
};

class TraitPoints {
 public:
  static constexpr std::size_t kVariates = 3;

  // `model`: of the whitened response, with `kernels`. All must outlive this.
  TraitPoints(const RestrictedModel& model, TraitKernels& kernels, const Sketch& sketch,
              const Probes& probes, const StochasticSettings& settings);

  // The point at theta by the first `count` probes. `tolerance`: of the response's solve. `start`:
  // a nearby point, whose solutions start the solves; it may be empty.
  TraitPoint at(const std::vector<double>& theta, int count, double tolerance,
                const TraitPoint& start);
  // The values of `count` probes from index `first` on: z'P A_i z of each i, then each of the
  // control variates, whose means are 0.
  ProbeValues values(const std::vector<double>& theta, int first, int count);
  // True if all solves reached their residuals.
  bool solved() const { return solved_; }

 private:
  std::vector<double> product_traces(const std::vector<double>& theta) const;
  ProbeValues values_of(const std::vector<double>& theta, int columns, const double* z,
                        const double* x) const;
  void add_response(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
                    TraitPoint& point);

  const RestrictedModel& model_;
  TraitKernels& kernels_;
  const Sketch& sketch_;
  const Probes& probes_;
  const StochasticSettings& settings_;
  std::vector<double> traces_;       // tr(S A_i S)
  std::vector<double> mean_traces_;  // tr(S A~_i S)
  bool solved_ = true;
};

// The factors of the control variates that leave the least variance of the values of each
// component, `pairs` of them, in these `units`: component by component. 0 for fewer probes than
// twice the variates.
std::vector<double> variate_factors(const ProbeValues& values, std::size_t pairs,
                                    const std::vector<double>& units);

// The values less the control variates.
ProbeValues less_variates(const ProbeValues& values, std::size_t pairs,
                          const std::vector<double>& factors);

}  // namespace ancify::reml
