// Three phases. The search steps with a few fixed probes, until s'I^-1 s is within their noise. At
// that point, batches of probes are added until the Monte Carlo error is small. Then the steps
// continue with the traces
//   tr(P A_i) = t_few(theta) + [t_all(theta_b) - t_few(theta_b)],
// where theta_b is the point of the batches: the few probes estimate the change from there, and its
// error. Steps are accepted by the gain of log-likelihood predicted from the scores at both ends,
// 1/2 (s + s_new)'d, as the likelihood itself would cost more.
#include "core/reml/stochastic/probe_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/kernels/heterogeneous_residual.h"
#include "core/reml/stochastic/haseman_elston.h"
#include "core/reml/stochastic/log_determinant.h"
#include "core/reml/stochastic/probe_point.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;
using Phase = StochasticState::Phase;

// The sketch is rebuilt when a kernel's share of the variance has changed by this much.
constexpr double kMoved = 0.2;
// A step is accepted if its gain is at least this share of the predicted gain.
constexpr double kLeastGain = 0.1;
// A search fails if steps are shortened to this share of the last step's length.
constexpr double kShortestShare = 1e-3;
// The last steps end when s'I^-1 s is this share of the noise's contribution to it.
constexpr double kShareOfNoise = 0.05;
// They never aim below this share of the tolerance, as the solves are only so accurate.
constexpr double kShareOfTolerance = 1e-4;
// The factor by which the last steps may increase the Monte Carlo error.
constexpr double kSlack = 1.2;
constexpr int kBatch = 8;  // probes

class ProbeFit {
 public:
  ProbeFit(const RestrictedModel& model, const StochasticSettings& settings, StochasticState state,
           const std::function<void(const StochasticState&)>& save)
      : model_(model),
        settings_(settings),
        state_(std::move(state)),
        save_(save),
        plan_(model, settings, false),
        batch_plan_(model, settings, state_.orthogonal),
        solver_(model, settings),
        residual_(model.data.residuals()) {}

  Fit run();

 private:
  std::size_t components() const { return static_cast<std::size_t>(model_.components()) + 1; }
  // The number of genetic components.
  std::size_t genetic() const {
    return components() - static_cast<std::size_t>(model_.data.residuals());
  }
  int probes_on_the_way() const {
    return plan_.takes_all() ? plan_.most() : std::min(settings_.probes, plan_.most());
  }
  bool is_exact() const { return plan_.exact(probes_on_the_way()); }
  // True if the batches count: an incomplete set of probes that must all be used does not.
  bool has_batch() const {
    const int count = batch().probes();
    return count > 0 && (!batch_plan_.takes_all() || count == batch_plan_.most());
  }
  int all_probes() const { return std::max(batch().probes(), probes_on_the_way()); }

  void start();
  void check_probes() const;
  ProbePoint point_at(const Vector& theta, const ProbePoint& start);
  void make_sketch(const Vector& theta);
  bool has_moved(const Vector& theta) const;
  void keep();

  // The share of the first-order terms that is subtracted from the probes' values, constant over
  // points.
  double share() const {
    const Vector& values = state_.batch_values.empty() ? state_.here.values : state_.batch_values;
    return best_share(ProbeValues(2 * components(), values), trace_units(state_.here.information));
  }
  // The values of trace_values() less first-order terms.
  ProbeValues left_of(const Vector& values) const {
    return less_first_order(ProbeValues(2 * components(), values), share());
  }
  ProbeValues values_here() const { return left_of(state_.here.values); }
  ProbeValues batch() const { return left_of(state_.batch_values); }
  ProbeValues first() const { return left_of(state_.first_values); }
  LocalModel local(const ProbePoint& point) const;
  Vector mc_score() const;
  // The threshold on s'I^-1 s that ends a phase.
  double goal(const LocalModel& here) const;

  void search();
  void try_step(const LocalModel& here);
  void end_search(const LocalModel& here);
  void begin_batches();
  void begin_orthogonal_batches();
  void add_batch();
  // Adds a row to the iterations. `step`: the length of the step that led here.
  void record(double step);
  void end(const std::string& status, const std::string& message);

  void add_log_likelihood(Fit& fit);
  Fit result();

  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  StochasticState state_;
  const std::function<void(const StochasticState&)>& save_;
  double earlier_passes_ = 0;
  ProbePlan plan_;        // of the search's probes
  ProbePlan batch_plan_;  // of the batches
  PointSolver solver_;
  // Points, traces and sketches refer to a model with residual I; steps, bounds and results do not.
  HeterogeneousResidual residual_;
  std::unique_ptr<Sketch> sketch_;
};

Fit ProbeFit::run() {
  if (settings_.search.expected) {
    throw InputError(
        "expected information of several components needs the exact method; use average "
        "information");
  }
  if (state_.here.theta.empty()) {
    start();
  } else {
    check_probes();
    make_sketch(state_.sketch_weights);
    earlier_passes_ = state_.passes - model_.kernels.passes();
  }
  while (state_.phase != Phase::kDone) {
    if (state_.phase == Phase::kBatches) {
      add_batch();
    } else {
      search();
    }
    state_.solved = state_.solved && solver_.solved();
    keep();
  }
  return result();
}

// Checks that the state's probes match the plans.
void ProbeFit::check_probes() const {
  const int known = ProbeValues(2 * components(), state_.here.values).probes();
  if (known != probes_on_the_way()) {
    throw InputError("the state of the fit has " + std::to_string(known) +
                     " probes on the way, but the fit takes " +
                     std::to_string(probes_on_the_way()));
  }
  batch_plan_.check_known(batch().probes());
}

void ProbeFit::start() {
  Vector theta = settings_.search.start;
  if (theta.empty()) {
    theta = residual_.by_share(
        haseman_elston_start(model_, settings_.search.lower, settings_.seed, settings_.columns));
  }
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = std::max(theta[i], settings_.search.lower[i]);
  }
  theta = residual_.with_identity(std::move(theta));
  make_sketch(theta);
  state_.radius = std::numeric_limits<double>::infinity();
  state_.here = point_at(theta, {});
  record(0);
}

// The search by few random probes tolerates less accurate solves.
ProbePoint ProbeFit::point_at(const Vector& theta, const ProbePoint& start) {
  const SolveTolerances tolerances(settings_.search.tolerance);
  const bool rough = state_.phase == Phase::kSearch && !plan_.takes_all();
  return solver_.at(theta, *sketch_, plan_.probes(), state_.first_probe, probes_on_the_way(),
                    rough ? tolerances.probes : tolerances.response, start);
}

void ProbeFit::record(double step) {
  state_.iterations.push_back({std::nan(""), decrement(local(state_.here)),
                               is_exact() ? 0 : all_probes(), step,
                               residual_.by_share(state_.here.theta)});
}

// Includes directions of all kernels, even with variance 0 here, but none of residuals.
void ProbeFit::make_sketch(const Vector& theta) {
  state_.sketch_weights = theta;
  Vector weights(components() - 1);
  const auto end = theta.begin() + static_cast<std::ptrdiff_t>(genetic());
  const double most = genetic() > 0 ? *std::max_element(theta.begin(), end) : 0;
  for (std::size_t g = 0; g < genetic(); ++g) {
    weights[g] = most > 0 ? std::max(theta[g], 0.01 * most) : 1;
  }
  sketch_ = std::make_unique<Sketch>(choose_sketch(model_, weights, settings_));
}

bool ProbeFit::has_moved(const Vector& theta) const {
  const Vector& before = state_.sketch_weights;
  double sum = 0;
  double sum_before = 0;
  for (std::size_t g = 0; g < genetic(); ++g) {
    sum += std::max(theta[g], 0.0);
    sum_before += std::max(before[g], 0.0);
  }
  if (!(sum > 0 && sum_before > 0)) return sum != sum_before;
  for (std::size_t g = 0; g < genetic(); ++g) {
    const double share = std::max(theta[g], 0.0) / sum - std::max(before[g], 0.0) / sum_before;
    if (std::abs(share) > kMoved) return true;
  }
  return false;
}

void ProbeFit::keep() {
  state_.passes = earlier_passes_ + model_.kernels.passes();
  if (save_) save_(state_);
}

LocalModel ProbeFit::local(const ProbePoint& point) const {
  Vector score = left_of(point.values).mean();
  Vector more(components());
  if (has_batch()) {
    more = batch().mean();
    const Vector less = first().mean();
    for (std::size_t i = 0; i < more.size(); ++i) more[i] -= less[i];
  }
  for (std::size_t i = 0; i < score.size(); ++i) {
    score[i] = (point.forms[i] - point.known[i] - score[i] - more[i]) / 2;
  }
  return {residual_.by_share(point.theta), settings_.search.lower,
          residual_.slopes(std::move(score)),
          residual_.curvatures(point.information, components())};
}

// The covariance of the score's Monte Carlo error.
Vector ProbeFit::mc_score() const {
  Vector covariance(components() * components());
  if (is_exact()) return covariance;
  if (!has_batch()) {
    covariance = values_here().covariance_of_mean();
  } else {
    if (!batch_plan_.exact(batch().probes())) covariance = batch().covariance_of_mean();
    const Vector change = values_here().minus(first()).covariance_of_mean();
    for (std::size_t k = 0; k < covariance.size(); ++k) covariance[k] += change[k];
  }
  for (double& value : covariance) value /= 4;
  return residual_.curvatures(std::move(covariance), components());
}

double ProbeFit::goal(const LocalModel& here) const {
  const double tolerance = settings_.search.tolerance;
  if (is_exact()) return tolerance;
  const double noise = monte_carlo_decrement(here, mc_score());
  const bool last = state_.phase == Phase::kFinish || plan_.takes_all();
  if (!last) return std::max(tolerance, noise);
  return std::clamp(kShareOfNoise * noise, kShareOfTolerance * tolerance, tolerance);
}

void ProbeFit::end(const std::string& status, const std::string& message) {
  state_.phase = Phase::kDone;
  state_.status = status;
  state_.message = message;
}

void ProbeFit::search() {
  const LocalModel here = local(state_.here);
  if (decrement(here) < goal(here)) {
    end_search(here);
  } else if (static_cast<int>(state_.iterations.size()) > settings_.search.max_iterations) {
    end("iterations", "the limit of " + std::to_string(settings_.search.max_iterations) +
                          " iterations was reached; raise `max_iterations`");
  } else {
    try_step(here);
  }
}

void ProbeFit::try_step(const LocalModel& here) {
  const Step step = bounded_step(here, state_.radius);
  if (!(state_.radius >= kShortestShare * std::sqrt(settings_.search.tolerance))) {
    // Rounding may stop the last steps before they reach the share of noise.
    if (decrement(here) < settings_.search.tolerance) return end_search(here);
    return end("stopped", "no step from here raises the likelihood");
  }
  const Vector theta = residual_.with_identity(step.theta);
  ProbePoint next;
  try {
    next = point_at(theta, state_.here);
  } catch (const NotPositive& error) {
    // Without bounds a step may be too long.
    if (theta[error.component] >= 0) throw;
    state_.radius = step.length / 4;
    return;
  }
  const LocalModel there = local(next);
  double gain = 0;
  double promised = -step.length * step.length / 2;
  for (std::size_t i = 0; i < components(); ++i) {
    const double change = there.theta[i] - here.theta[i];
    gain += (here.score[i] + there.score[i]) / 2 * change;
    promised += here.score[i] * change;
  }
  if (!(gain >= kLeastGain * promised)) {
    state_.radius = step.length / 4;
    return;
  }
  state_.radius = std::max(state_.radius, 4 * step.length);
  state_.here = std::move(next);
  if (state_.phase == Phase::kSearch && has_moved(state_.here.theta)) {
    make_sketch(state_.here.theta);
    // The point's values are differences from the previous sketch's traces.
    state_.here = point_at(state_.here.theta, state_.here);
  }
  record(step.length);
}

void ProbeFit::end_search(const LocalModel& here) {
  // Orthogonal probes can be reused at the new end of the search.
  const bool few = !plan_.takes_all() && (all_probes() < plan_.most() || batch_plan_.orthogonal());
  if (state_.phase == Phase::kSearch && few) return begin_batches();
  const double share = monte_carlo_share(here, mc_score());
  if (share <= kSlack * settings_.mc_tolerance) return end("converged", "");
  if (few) return begin_batches();
  end("max_probes", too_few_probes_message(share));
}

void ProbeFit::begin_batches() {
  state_.phase = Phase::kBatches;
  state_.batch_theta = state_.here.theta;
  state_.first_values = state_.here.values;
  state_.batch_values = batch_plan_.takes_all() ? Vector() : state_.here.values;
}

// The search's end is biased by its own probes, so other probes estimate the change from there.
void ProbeFit::begin_orthogonal_batches() {
  state_.orthogonal = true;
  state_.first_probe = plan_.most();
  ProbePoint response;
  response.solutions.assign(state_.here.solutions.begin(),
                            state_.here.solutions.begin() + model_.samples());
  state_.here = point_at(state_.here.theta, response);
  begin_batches();
}

void ProbeFit::add_batch() {
  ProbeValues all(2 * components(), state_.batch_values);
  const LocalModel here = local(state_.here);
  const Vector errors = mc_score();
  if (batch_plan_.enough(all.probes(), here, errors)) {
    state_.phase = Phase::kFinish;
    return;
  }
  const int needed = batch_plan_.needed(all.probes(), here, errors, kProbeReserve);
  if (batch_plan_.become_orthogonal(needed)) {
    return begin_orthogonal_batches();
  }
  const int count = std::min({std::max(needed - all.probes(), kBatch), settings_.columns,
                              batch_plan_.most() - all.probes()});
  all.add(solver_.values(state_.batch_theta, *sketch_, batch_plan_.probes(), all.probes(), count)
              .values());
  state_.batch_values = all.values();
  record(0);
}

void ProbeFit::add_log_likelihood(Fit& fit) {
  const RestrictedCovariance covariance(model_, state_.here.theta);
  // The smallest residual variance is below all eigenvalues, unless a kernel's variance is
  // negative.
  const Vector& theta = fit.theta;
  const bool bounded = *std::min_element(theta.begin(), theta.end()) >= 0;
  const double least_residual =
      *std::min_element(theta.begin() + static_cast<std::ptrdiff_t>(genetic()), theta.end());
  // Uses the batches' probes, and all of them if required.
  const int count =
      batch_plan_.takes_all() ? batch_plan_.most() : std::min(all_probes(), settings_.columns);
  const LogDeterminant determinant =
      log_determinant(covariance, *sketch_, batch_plan_.probes(), count,
                      bounded ? least_residual : std::nan(""), settings_);
  if (!determinant.reached) {
    fit.status = "quadrature";
    fit.message = quadrature_message();
  }
  const RestrictedModel& model = covariance.model();
  double square = 0;
  column_products(model.workers, model.samples(), 1, model.fixed.projected_y().data(),
                  fit.residual_projection.data(), &square);
  const auto freedom = static_cast<double>(model.fixed.freedom());
  fit.log_likelihood = -0.5 * (freedom * kLogTwoPi + determinant.value + square);
  fit.mc_log_likelihood = batch_plan_.exact(count) ? 0 : determinant.error / 2;
}

Fit ProbeFit::result() {
  const LocalModel here = local(state_.here);
  Fit fit;
  fit.theta = here.theta;
  fit.score = here.score;
  fit.information = here.information;
  fit.mc_score = mc_score();
  fit.at_bound = at_bound(here);
  fit.iterations = state_.iterations;
  fit.probes = all_probes();
  fit.status = state_.status;
  fit.message = state_.message;
  const Vector& solutions = state_.here.solutions;
  fit.residual_projection.assign(solutions.begin(), solutions.begin() + model_.samples());
  const bool solved = add_solution(
      RestrictedCovariance(model_, state_.here.theta), Preconditioner(*sketch_, state_.here.theta),
      SolveTolerances(settings_.search.tolerance), settings_.columns, fit);
  fit.genetic.resize(area(model_.samples(), static_cast<int>(genetic())));
  add_log_likelihood(fit);
  return ended(std::move(fit), solved && state_.solved, earlier_passes_ + model_.kernels.passes());
}

}  // namespace

Fit fit_several_components(const RestrictedModel& model, const StochasticSettings& settings,
                           StochasticState state,
                           const std::function<void(const StochasticState&)>& save) {
  return ProbeFit(model, settings, std::move(state), save).run();
}

}  // namespace ancify::reml
