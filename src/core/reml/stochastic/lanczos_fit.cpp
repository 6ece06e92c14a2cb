// With one kernel, P, A_i and H are functions of SKS, so the likelihood is a sum over its spectrum.
// Gauss rules of Lanczos runs approximate y'f(SKS)y and z'f(SKS)z. The sketch B of SKS, whose
// spectrum is known, is the control variate:
//   tr f(SKS) = tr f(B) + mean over z of [z'f(SKS)z - z'f(B)z].
// A second one is a share of the difference's first-order term in SKS - B. (Bai, Fahey and Golub
// 1996, J. Comput. Appl. Math. 74:71; for REML: Border and Becker 2019, BMC Bioinformatics 20:411.)
#include "core/reml/stochastic/lanczos_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "core/exec/threads.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/solvers/lanczos.h"
#include "core/reml/solvers/traces.h"
#include "core/reml/stochastic/probe_plan.h"
#include "core/reml/stochastic/solution.h"
#include "core/reml/stochastic/spectral_likelihood.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// Pilot probes, from which the required number is predicted.
constexpr int kPilotProbes = 32;
// The pilot predicts the number of probes if the quadrature's error in s'I^-1 s is below this.
// Otherwise, as with many relatives, the law sd = SE / sqrt(R) predicts it. It is multiplied by
// kShareOfLaw, as the control variates save most probes.
constexpr double kPilotError = 1;
constexpr double kShareOfLaw = 0.08;
// Takes this many times the predicted probes, as another block of probes costs all its passes.
constexpr double kPilotReserve = 1.4;

// A kernel has one eigenvalue if it appears to all probes as a multiple of the residual's.
bool has_one_eigenvalue(const std::vector<SpectralSum>& rules) {
  double sum = 0;
  double first = 0;
  double second = 0;
  for (const SpectralSum& rule : rules) {
    for (std::size_t k = 0; k < rule.nodes.size(); ++k) {
      sum += rule.weights[k];
      first += rule.weights[k] * rule.nodes[k];
      second += rule.weights[k] * rule.nodes[k] * rule.nodes[k];
    }
  }
  return second - first * first / sum <= kDependentKernel * second;
}

class LanczosFit {
 public:
  LanczosFit(const RestrictedModel& model, const StochasticSettings& settings,
             StochasticState state, const std::function<void(const StochasticState&)>& save)
      : model_(model),
        settings_(settings),
        state_(std::move(state)),
        save_(save),
        kernel_(model, {1, 0}),
        sketch_(choose_sketch(model, {1}, settings)),
        spectrum_(sketch_, {1, 0}),
        plan_(model, settings, state_.orthogonal) {}

  Fit run();

 private:
  // The current estimate of the maximum likelihood from the runs so far.
  struct Known {
    LocalModel local;
    double log_likelihood = 0;
    double mc_log_likelihood = 0;
    Vector mc_score;
    double error = 0;  // s'I^-1 s of the quadrature's error in s
    // The larger of the quadrature errors of s and the log-likelihood, relative to their Monte
    // Carlo errors.
    double share = 0;
  };

  int probes() const { return static_cast<int>(shadows_.size()); }
  // The predicted number of probes needed.
  int all_probes() const {
    return plan_.needed(probes(), known_.local, known_.mc_score, kProbeReserve);
  }
  bool is_accurate() const { return known_.share <= kQuadratureShare; }
  // Probes in the first block, which also holds the response.
  int room() const { return std::max(1, settings_.columns - 1); }
  // Steps of the longest run.
  int most_steps() const;
  void first_block();
  void next_block(int count);
  void add_probes(Lanczos& lanczos, int count);
  void see_probes(int columns, const double* z);
  int predict_probes() const;
  // Extends the runs of `lanczos`, which begin at index `first`, to `steps` steps, and then until
  // the quadrature is accurate, up to `most` steps.
  void go_on(Lanczos& lanczos, std::size_t first, int steps, int most);
  void restore();
  void keep();

  SpectralSum rule_of(const LanczosRun& run, bool radau) const;
  SpectralSum trace_of(const std::vector<SpectralSum>& rules, double first) const;
  ProbeValues values_at(const Vector& theta, const std::vector<SpectralSum>& gauss) const;
  double first_share(const std::vector<SpectralSum>& gauss) const;
  std::vector<SpectralSum> rules(bool radau) const;
  void maximise();
  void add_monte_carlo_errors(const std::vector<SpectralSum>& gauss, double first);
  // Adds a row to the iterations. `before`: theta before the last maximum, or empty.
  void record(const Vector& before);
  Fit result();

  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  StochasticState state_;
  const std::function<void(const StochasticState&)>& save_;
  double earlier_passes_ = 0;
  RestrictedCovariance kernel_;
  Sketch sketch_;
  SketchSpectrum spectrum_;
  ProbePlan plan_;
  std::vector<SpectralSum> shadows_;  // z'f(B)z of each probe
  std::vector<SpectralSum> firsts_;   // first-order terms of z'f(SKS)z - z'f(B)z
  Known known_;
};

Fit LanczosFit::run() {
  if (state_.runs.empty()) {
    first_block();
  } else {
    restore();
  }
  while (is_accurate() && !plan_.enough(probes(), known_.local, known_.mc_score)) {
    next_block(all_probes() - probes());
  }
  return result();
}

// Runs the response and the predicted number of probes.
void LanczosFit::first_block() {
  state_.response_vectors.clear();
  Lanczos lanczos(kernel_, &state_.response_vectors);
  lanczos.add(1, model_.fixed.projected_y().data());
  state_.runs.assign(1, {});
  add_probes(lanczos,
             std::min({plan_.takes_all() ? plan_.most() : kPilotProbes, plan_.most(), room()}));
  if (!plan_.takes_all()) {
    go_on(lanczos, 0, kFirstLanczosSteps, kFirstLanczosSteps);
    const int needed = predict_probes();
    if (plan_.become_orthogonal(needed)) {
      state_.orthogonal = true;
      shadows_.clear();
      firsts_.clear();
      state_.blocks.clear();
      return first_block();
    }
    add_probes(lanczos, std::min(needed, room()) - probes());
  }
  go_on(lanczos, 0, most_steps(), kMostLanczosSteps);
  keep();
}

int LanczosFit::predict_probes() const {
  if (known_.error < kPilotError) {
    return plan_.needed(probes(), known_.local, known_.mc_score, kPilotReserve);
  }
  const double by_law = kShareOfLaw / (settings_.mc_tolerance * settings_.mc_tolerance);
  return static_cast<int>(std::min<double>(by_law, plan_.most()));
}

int LanczosFit::most_steps() const {
  int most = kFirstLanczosSteps;
  for (const LanczosRun& run : state_.runs) most = std::max(most, run.steps());
  return most;
}

void LanczosFit::next_block(int count) {
  Lanczos lanczos(kernel_);
  const std::size_t first = state_.runs.size();
  // All runs are similar, so few steps beyond the first block's must suffice.
  const int steps = most_steps();
  add_probes(lanczos, std::max(1, std::min({count, plan_.most() - probes(), settings_.columns})));
  go_on(lanczos, first, steps, steps + kFirstLanczosSteps);
  keep();
}

void LanczosFit::add_probes(Lanczos& lanczos, int count) {
  if (count <= 0) return;
  const auto size = area(model_.samples(), count);
  Vector z(size);
  plan_.probes().fill(model_.workers, probes(), count, z.data());
  see_probes(count, z.data());
  state_.blocks.push_back(count);
  lanczos.add(count, z.data());
  state_.runs.resize(state_.runs.size() + static_cast<std::size_t>(count));
}

void LanczosFit::see_probes(int columns, const double* z) {
  const Shadows seen(sketch_, columns, z);
  const ProductShadows product(sketch_, kernel_, columns, z, z);
  for (int c = 0; c < columns; ++c) {
    shadows_.push_back(spectrum_.form(seen, c));
    firsts_.push_back(spectrum_.first_order(seen, product, c));
  }
}

void LanczosFit::go_on(Lanczos& lanczos, std::size_t first, int steps, int most) {
  for (;; steps += kLanczosStepsAtOnce) {
    lanczos.advance(steps);
    std::copy(lanczos.runs().begin(), lanczos.runs().end(),
              state_.runs.begin() + static_cast<std::ptrdiff_t>(first));
    const Vector before = known_.local.theta;
    maximise();
    record(before);
    const bool ended = std::all_of(lanczos.runs().begin(), lanczos.runs().end(),
                                   [](const LanczosRun& run) { return run.exhausted; });
    // Later blocks reduce the noise, but not this block's quadrature error.
    const double enough = all_probes() > probes() ? kQuadratureShare / 2 : kQuadratureShare;
    if (known_.share <= enough || ended || steps >= most) break;
  }
}

void LanczosFit::record(const Vector& before) {
  const LocalModel& now = known_.local;
  double square = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < before.size(); ++j) {
      square +=
          (now.theta[i] - before[i]) * now.information[2 * i + j] * (now.theta[j] - before[j]);
    }
  }
  state_.iterations.push_back({known_.log_likelihood, decrement(now),
                               plan_.exact(probes()) ? 0 : probes(), std::sqrt(square), now.theta});
}

void LanczosFit::keep() {
  state_.passes = earlier_passes_ + model_.kernels.passes();
  if (save_) save_(state_);
}

void LanczosFit::restore() {
  for (const int columns : state_.blocks) {
    plan_.check_known(probes() + columns);
    Vector z(area(model_.samples(), columns));
    plan_.probes().fill(model_.workers, probes(), columns, z.data());
    see_probes(columns, z.data());
  }
  earlier_passes_ = state_.passes - model_.kernels.passes();
  maximise();
}

// A kernel has no negative eigenvalues; rounding may produce some, which are set to 0.
SpectralSum LanczosFit::rule_of(const LanczosRun& run, bool radau) const {
  SpectralSum sum = radau ? gauss_radau_rule(run, 0) : gauss_rule(run);
  if (!sum.nodes.empty()) {
    const auto [least, most] = std::minmax_element(sum.nodes.begin(), sum.nodes.end());
    check_smallest_eigenvalue(*least, *most, model_.name(0));
  }
  for (double& node : sum.nodes) node = std::max(node, 0.0);
  return sum;
}

// tr f(SKS), with the rules of the response and all probes. `first`: the share of the first-order
// terms that is subtracted.
SpectralSum LanczosFit::trace_of(const std::vector<SpectralSum>& rules, double first) const {
  SpectralSum sum = spectrum_.trace();
  const std::size_t known = sum.nodes.size();
  sum.nodes.insert(sum.nodes.end(), firsts_[0].nodes.begin(), firsts_[0].nodes.end());
  sum.weights.resize(sum.nodes.size());
  const double share = 1.0 / probes();
  for (std::size_t c = 0; c < shadows_.size(); ++c) {
    const SpectralSum& shadow = shadows_[c];
    for (std::size_t k = 0; k < shadow.weights.size(); ++k) {
      sum.weights[k] -= share * shadow.weights[k];
    }
    for (std::size_t k = known; k < known + firsts_[c].weights.size(); ++k) {
      sum.weights[k] -= share * first * firsts_[c].weights[k - known];
    }
    const SpectralSum& rule = rules[c + 1];
    sum.nodes.insert(sum.nodes.end(), rule.nodes.begin(), rule.nodes.end());
    for (const double weight : rule.weights) sum.weights.push_back(share * weight);
  }
  return sum;
}

std::vector<SpectralSum> LanczosFit::rules(bool radau) const {
  std::vector<SpectralSum> rules(state_.runs.size());
  run_tasks(model_.workers.control, model_.workers.threads, static_cast<std::int64_t>(rules.size()),
            [&](std::int64_t c, const TaskContext&) {
              const auto k = static_cast<std::size_t>(c);
              rules[k] = rule_of(state_.runs[k], radau);
            });
  return rules;
}

void LanczosFit::maximise() {
  const std::vector<SpectralSum> gauss = rules(false);
  if (has_one_eigenvalue(gauss)) throw DependentComponent(0, model_.name(0));
  const double first = first_share(gauss);
  const SpectralSum trace = trace_of(gauss, first);
  const SpectralLikelihood likelihood(gauss[0], trace, model_.fixed.freedom());
  const Vector theta = likelihood.maximum(settings_.search);
  known_.local = likelihood.at(theta, settings_.search);
  known_.log_likelihood = likelihood.log_likelihood(theta);
  add_monte_carlo_errors(gauss, first);

  const std::vector<SpectralSum> radau = rules(true);
  known_.error = 0;
  double change = 0;
  for (const SpectralLikelihood& other :
       {SpectralLikelihood(radau[0], trace, model_.fixed.freedom()),
        SpectralLikelihood(gauss[0], trace_of(radau, first), model_.fixed.freedom())}) {
    LocalModel error = known_.local;
    const Vector score = other.score(theta);
    for (std::size_t i = 0; i < 2; ++i) error.score[i] -= score[i];
    known_.error += decrement(error);
    change += std::abs(other.log_likelihood(theta) - known_.log_likelihood);
  }
  // The probes' errors once all of them have run.
  const double tolerance = settings_.search.tolerance;
  const double left = static_cast<double>(probes()) / std::max(probes(), all_probes());
  const double noise = left * monte_carlo_decrement(known_.local, known_.mc_score);
  const double log_noise = std::sqrt(left) * known_.mc_log_likelihood;
  known_.share = std::max(std::sqrt(known_.error / std::max(noise, tolerance)),
                          change / std::max(log_noise, std::sqrt(tolerance)));
}

// z'f(SKS)z - z'f(B)z of each probe for the score's functions, and their first-order terms.
ProbeValues LanczosFit::values_at(const Vector& theta,
                                  const std::vector<SpectralSum>& gauss) const {
  ProbeValues values(4);
  for (std::size_t c = 0; c < shadows_.size(); ++c) {
    Vector all = component_sums(gauss[c + 1], theta, 1);
    const Vector seen = component_sums(shadows_[c], theta, 1);
    const Vector first = component_sums(firsts_[c], theta, 1);
    for (std::size_t i = 0; i < 2; ++i) all[i] -= seen[i];
    all.insert(all.end(), first.begin(), first.end());
    values.add(all);
  }
  return values;
}

// The best share of the first-order terms, at the maximum of the likelihood without them.
double LanczosFit::first_share(const std::vector<SpectralSum>& gauss) const {
  const SpectralLikelihood rough(gauss[0], trace_of(gauss, 0), model_.fixed.freedom());
  const Vector theta = rough.maximum(settings_.search);
  return best_share(values_at(theta, gauss), trace_units(rough.information(theta, false)));
}

// Estimates the errors from the spread over probes.
void LanczosFit::add_monte_carlo_errors(const std::vector<SpectralSum>& gauss, double first) {
  const Vector& theta = known_.local.theta;
  ProbeValues logs(2);
  const auto log = [&](double x) { return std::log(theta[0] * x + theta[1]); };
  for (std::size_t c = 0; c < shadows_.size(); ++c) {
    logs.add({gauss[c + 1].of(log) - shadows_[c].of(log), firsts_[c].of(log)});
  }
  const bool exact = plan_.probes().exact();
  const ProbeValues values = less_first_order(values_at(theta, gauss), first);
  known_.mc_score = exact ? Vector(4) : values.covariance_of_mean();
  for (double& value : known_.mc_score) value /= 4;
  const double log_variance = less_first_order(logs, first).covariance_of_mean()[0];
  known_.mc_log_likelihood = exact ? 0 : std::sqrt(log_variance) / 2;
}

Fit LanczosFit::result() {
  Fit fit;
  fit.theta = known_.local.theta;
  fit.score = known_.local.score;
  fit.information = known_.local.information;
  fit.log_likelihood = known_.log_likelihood;
  fit.mc_log_likelihood = known_.mc_log_likelihood;
  fit.mc_score = known_.mc_score;
  fit.at_bound = at_bound(known_.local);
  fit.iterations = state_.iterations;
  fit.probes = probes();
  fit.status = "converged";
  const double share = monte_carlo_share(known_.local, known_.mc_score);
  if (share > settings_.mc_tolerance) {
    fit.status = "max_probes";
    fit.message = too_few_probes_message(share);
  }
  if (!is_accurate()) {
    fit.status = "quadrature";
    fit.message = quadrature_message();
  } else if (decrement(known_.local) >= settings_.search.tolerance) {
    fit.status = "stopped";
    fit.message = "no step from here raises the likelihood";
  }
  const RestrictedCovariance covariance(model_, fit.theta);
  const Preconditioner preconditioner(sketch_, fit.theta);
  // P y lies nearly in the span of the response's run.
  const Vector along = krylov_solution(state_.runs[0], fit.theta[0], fit.theta[1]);
  fit.residual_projection.resize(static_cast<std::size_t>(model_.samples()));
  add_block(model_.workers, model_.samples(), static_cast<int>(along.size()), 1, 1,
            state_.response_vectors.data(), along.data(), fit.residual_projection.data());
  const bool solved =
      add_solution(covariance, preconditioner, SolveTolerances(settings_.search.tolerance),
                   settings_.columns, fit);
  return ended(std::move(fit), solved, earlier_passes_ + model_.kernels.passes());
}

}  // namespace

Fit fit_one_component(const RestrictedModel& model, const StochasticSettings& settings,
                      StochasticState state,
                      const std::function<void(const StochasticState&)>& save) {
  return LanczosFit(model, settings, std::move(state), save).run();
}

}  // namespace ancify::reml
