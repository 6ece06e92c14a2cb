// Which probes a fit uses, and how many.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/reml/covariance.h"
#include "core/reml/preconditioner.h"
#include "core/reml/probes.h"
#include "core/reml/steps.h"
#include "core/reml/stochastic_fit.h"

namespace ancify::reml {

// How many probes more than predicted to take, as predictions have an error.
constexpr double kProbeReserve = 1.1;

class ProbePlan {
 public:
  // `orthogonal`: begin with orthogonal probes.
  ProbePlan(const RestrictedModel& model, const StochasticSettings& settings, bool orthogonal);

  const Probes& probes() const { return *probes_; }
  bool orthogonal() const { return orthogonal_; }
  // Whether all probes must be used: a matrix of the user's, or orthogonal ones.
  bool takes_all() const { return probes_->most() > 0; }
  int most() const;
  // Whether traces by this many probes have no error.
  bool exact(int count) const { return probes_->exact() && count == most(); }
  // Whether more probes are not needed, or cannot be had.
  bool enough(int count, const LocalModel& local, const std::vector<double>& mc_score) const;
  // The number that makes the error as small as asked for, predicted from that of `count`, times
  // `reserve`.
  int needed(int count, const LocalModel& local, const std::vector<double>& mc_score,
             double reserve) const;
  // Takes orthogonal probes, if they are allowed and not more than `count`. False if not.
  bool become_orthogonal(int count);

 private:
  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  bool orthogonal_ = false;
  std::unique_ptr<Probes> probes_;
};

// The sketch of a fit. It has many directions where they help, as among relatives. Those of
// unrelated samples are all alike, and few tell that more are not worth their passes.
Sketch choose_sketch(const RestrictedModel& model, const std::vector<double>& weights,
                     const StochasticSettings& settings);

// The largest Monte Carlo error of a free component, as a share of its standard error. `mc_score`:
// the covariance of the score's Monte Carlo error C; that of the estimates is I^-1 C I^-1.
double monte_carlo_share(const LocalModel& local, const std::vector<double>& mc_score);

// What a fit says of such a share that is larger than asked for.
std::string too_few_probes_message(double share);

// What the Monte Carlo error adds to s'I^-1 s, on average: tr(I^-1 C) over free components.
double monte_carlo_decrement(const LocalModel& local, const std::vector<double>& mc_score);

}  // namespace ancify::reml
