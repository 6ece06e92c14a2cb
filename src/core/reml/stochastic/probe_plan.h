// The kind and number of probes of a fit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/reml/fit/steps.h"
#include "core/reml/solvers/covariance.h"
#include "core/reml/solvers/preconditioner.h"
#include "core/reml/solvers/probes.h"
#include "core/reml/stochastic/stochastic_fit.h"

namespace ancify::reml {

// A safety factor on the predicted number of probes.
constexpr double kProbeReserve = 1.1;

class ProbePlan {
 public:
  // `orthogonal`: starts with orthogonal probes.
  ProbePlan(const RestrictedModel& model, const StochasticSettings& settings, bool orthogonal);

  const Probes& probes() const { return *probes_; }
  bool orthogonal() const { return orthogonal_; }
  // True if all probes must be used: a user's matrix, or orthogonal probes.
  bool takes_all() const { return probes_->most() > 0; }
  int most() const;
  // True if traces by this many probes have no error.
  bool exact(int count) const { return probes_->exact() && count == most(); }
  // True if further probes are unnecessary or unavailable.
  bool enough(int count, const LocalModel& local, const std::vector<double>& mc_score) const;
  // The number of probes for the requested error, predicted from the error of `count` probes, times
  // `reserve`.
  int needed(int count, const LocalModel& local, const std::vector<double>& mc_score,
             double reserve) const;
  // InputError for a state with more probes than exist.
  void check_known(int count) const;
  // Switches to orthogonal probes, if they are allowed and at most `count`. Returns false
  // otherwise.
  bool become_orthogonal(int count);

 private:
  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  bool orthogonal_ = false;
  std::unique_ptr<Probes> probes_;
};

// The sketch of a fit. It has many directions where they help, as for relatives. For unrelated
// samples all directions are similar, and a few show that more are not worth their passes.
Sketch choose_sketch(const RestrictedModel& model, const std::vector<double>& weights,
                     const StochasticSettings& settings);

// The largest Monte Carlo error of a free component, as a share of its standard error. `mc_score`:
// the covariance C of the score's Monte Carlo error; the estimates' covariance is I^-1 C I^-1.
double monte_carlo_share(const LocalModel& local, const std::vector<double>& mc_score);

// A fit's message for a share above the requested one.
std::string too_few_probes_message(double share);

// The mean contribution of the Monte Carlo error to s'I^-1 s: tr(I^-1 C) over free components.
double monte_carlo_decrement(const LocalModel& local, const std::vector<double>& mc_score);

}  // namespace ancify::reml
