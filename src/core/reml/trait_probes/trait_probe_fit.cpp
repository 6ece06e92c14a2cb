// As for one trait (probe_fit.cpp): a search with a few fixed probes, batches of probes at its end,
// and final steps with the traces
//   tr(P A_i) = t_few(theta) + [t_all(theta_b) - t_few(theta_b)],
// where theta_b is the point of the batches. Steps stay in the cone of covariance matrices, and are
// accepted by the gain predicted from the scores at both ends.
#include "core/reml/trait_probes/trait_probe_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "core/numerics/vectors.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/multivariate/cone_step.h"
#include "core/reml/stochastic/log_determinant.h"
#include "core/reml/stochastic/probe_plan.h"
#include "core/reml/stochastic/solution.h"
#include "core/reml/trait_probes/trait_points.h"
#include "core/reml/trait_probes/whitened_traits.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// The genetic share of the variance where a search starts.
constexpr double kStartShare = 0.3;
// Rows of the information with a smaller relative pivot count as dependent: solves are no more
// accurate.
constexpr double kDependentRow = 1e-7;
// As for one trait: the least gain of a step as a share of the predicted one, the shortest step,
// the end of the last steps as a share of the noise and of the tolerance, and their own noise.
constexpr double kLeastGainOfTraits = 0.1;
constexpr double kShortestOfTraits = 1e-3;
constexpr double kEndByNoise = 0.05;
constexpr double kEndByTolerance = 1e-4;
constexpr double kNoiseOfSteps = 1.2;
constexpr int kTraitBatch = 8;  // probes

class TraitProbeFit {
 public:
  TraitProbeFit(const TraitStudy& study, const TraitValues& values, TraitKernels& kernels,
                const RestrictedModel& model, const Vector& covariance,
                const StochasticSettings& settings);

  // The fit in the study's units.
  TraitFit run();
  TraitEffects effects();
  bool solved() const { return solved_ && points_.solved(); }

 private:
  int few() const {
    return plan_.takes_all() ? plan_.most() : std::min(settings_.probes, plan_.most());
  }
  bool is_exact() const { return plan_.exact(few()); }
  bool has_batch() const { return batch_.probes() > 0; }
  int all_probes() const { return std::max(batch_.probes(), few()); }

  Vector start(const Vector& covariance) const;
  Vector sketch_weights(const Vector& covariance) const;
  void check_independent() const;
  ProbeValues left_of(const ProbeValues& values) const;
  ProbeValues values_of(const TraitPoint& point) const {
    return ProbeValues((1 + TraitPoints::kVariates) * unknown_.size(), point.values);
  }
  ConeModel local(const TraitPoint& point) const;
  Vector mc_score() const;
  // The local model of the identifiable coordinates, without bounds, and this part of a matrix.
  LocalModel free_model() const;
  Vector free_part(const Vector& matrix) const;
  double goal(bool last) const;
  double tolerance_of_solves(bool last) const;

  // Steps until the goal. Returns false if the fit must end.
  bool search(bool last);
  bool move(const ConeModel& here, const Vector& d, bool last);
  void add_batches();
  void record(double decrement, double step);
  void end(const std::string& status, const std::string& message) {
    fit_.status = status;
    fit_.message = message;
  }
  void add_log_likelihood();

  const TraitStudy& study_;
  const TraitValues& values_;
  TraitKernels& kernels_;
  const RestrictedModel& model_;
  const StochasticSettings& settings_;
  std::vector<char> unknown_;
  ProbePlan plan_;
  Sketch sketch_;
  TraitPoints points_;
  TraitPoint here_;
  ProbeValues batch_;  // of all probes, at the point of the batches
  ProbeValues first_;  // of the search's probes there
  double length_ = 0;  // of the last step
  TraitFit fit_;
  bool solved_ = true;
};

TraitProbeFit::TraitProbeFit(const TraitStudy& study, const TraitValues& values,
                             TraitKernels& kernels, const RestrictedModel& model,
                             const Vector& covariance, const StochasticSettings& settings)
    : study_(study),
      values_(values),
      kernels_(kernels),
      model_(model),
      settings_(settings),
      unknown_(unknown_parameters(study.traits(), kernels.parts())),
      plan_(model, settings, false),
      sketch_(choose_sketch(model, sketch_weights(covariance), settings)),
      points_(model, kernels, sketch_, plan_.probes(), settings),
      batch_((1 + TraitPoints::kVariates) * unknown_.size()),
      first_(batch_) {
  here_ = points_.at(start(covariance), few(), tolerance_of_solves(false), {});
  check_independent();
}

// The genetic components have equal parts of the variance.
Vector TraitProbeFit::start(const Vector& covariance) const {
  const Vector packed_covariance = packed(values_.traits(), covariance);
  const std::size_t genetic = kernels_.parts() - 1;
  Vector theta;
  for (std::size_t g = 0; g <= genetic; ++g) {
    const double part = g < genetic ? kStartShare / static_cast<double>(genetic) / kernels_.mean(g)
                                    : 1 - kStartShare;
    for (const double value : packed_covariance) theta.push_back(part * value);
  }
  for (std::size_t i = 0; i < theta.size(); ++i) {
    if (unknown_[i] != 0) theta[i] = 0;
  }
  return theta;
}

// Directions of the genetic components alone.
Vector TraitProbeFit::sketch_weights(const Vector& covariance) const {
  Vector theta = start(covariance);
  std::fill(theta.end() - static_cast<std::ptrdiff_t>(kernels_.pairs().size()), theta.end(), 0.0);
  Vector weights = kernels_.weights_of(theta);
  weights.pop_back();
  return weights;
}

void TraitProbeFit::check_independent() const {
  const std::size_t k = unknown_.size();
  Vector matrix = here_.information;
  for (std::size_t i = 0; i < k; ++i) {
    if (unknown_[i] != 0) matrix[i * (k + 1)] = 1;
  }
  const std::size_t dependent = first_dependent(std::move(matrix), k, kDependentRow);
  if (dependent < k) {
    throw DependentComponent(dependent / kernels_.pairs().size(), "a component");
  }
}

// Values less the control variates, with factors that are constant over points.
ProbeValues TraitProbeFit::left_of(const ProbeValues& values) const {
  const std::size_t pairs = kernels_.pairs().size();
  const Vector factors = variate_factors(has_batch() ? batch_ : values_of(here_), pairs,
                                         trace_units(here_.information));
  return less_variates(values, pairs, factors);
}

ConeModel TraitProbeFit::local(const TraitPoint& point) const {
  const std::size_t k = unknown_.size();
  Vector score = left_of(values_of(point)).mean();
  if (has_batch()) {
    const Vector more = left_of(batch_).mean();
    const Vector less = left_of(first_).mean();
    for (std::size_t i = 0; i < k; ++i) score[i] += more[i] - less[i];
  }
  for (std::size_t i = 0; i < k; ++i) score[i] = (point.forms[i] - score[i]) / 2;
  ConeModel model{point.theta, {}, unknown_, std::move(score), point.information};
  const std::size_t m = kernels_.pairs().size();
  for (std::size_t g = 0; g < kernels_.parts(); ++g) {
    const bool residual = g + 1 == kernels_.parts();
    model.blocks.push_back({g * m, values_.traits(), residual ? study_.floor() : 0});
  }
  return model;
}

// The covariance of the score's Monte Carlo error.
Vector TraitProbeFit::mc_score() const {
  Vector covariance(unknown_.size() * unknown_.size());
  if (is_exact()) return covariance;
  const ProbeValues here = left_of(values_of(here_));
  if (!has_batch()) {
    covariance = here.covariance_of_mean();
  } else {
    covariance = left_of(batch_).covariance_of_mean();
    const Vector change = here.minus(left_of(first_)).covariance_of_mean();
    for (std::size_t j = 0; j < covariance.size(); ++j) covariance[j] += change[j];
  }
  for (double& value : covariance) value /= 4;
  return covariance;
}

Vector TraitProbeFit::free_part(const Vector& matrix) const {
  const std::size_t k = unknown_.size();
  Vector part;
  for (std::size_t j = 0; j < matrix.size(); ++j) {
    if (unknown_[j % k] == 0 && unknown_[j / k] == 0) part.push_back(matrix[j]);
  }
  return part;
}

LocalModel TraitProbeFit::free_model() const {
  const auto free = static_cast<std::size_t>(std::count(unknown_.begin(), unknown_.end(), 0));
  return {Vector(free), Vector(free, -std::numeric_limits<double>::infinity()), Vector(free),
          free_part(here_.information)};
}

double TraitProbeFit::tolerance_of_solves(bool last) const {
  const SolveTolerances tolerances(settings_.search.tolerance);
  return last || plan_.takes_all() ? tolerances.response : tolerances.probes;
}

// The threshold on s'I^-1 s that ends a search.
double TraitProbeFit::goal(bool last) const {
  const double tolerance = settings_.search.tolerance;
  if (is_exact()) return tolerance;
  const double noise = monte_carlo_decrement(free_model(), free_part(mc_score()));
  if (!last) return std::max(tolerance, noise);
  return std::clamp(kEndByNoise * noise, kEndByTolerance * tolerance, tolerance);
}

void TraitProbeFit::record(double decrement, double step) {
  fit_.iterations.push_back(
      {std::nan(""), decrement, is_exact() ? 0 : all_probes(), step, here_.theta});
}

bool TraitProbeFit::search(bool last) {
  while (true) {
    const ConeModel here = local(here_);
    const Vector d = cone_step(here);
    const double decrement = squared_length(here, d);
    record(decrement, length_);
    if (decrement < goal(last)) return true;
    if (static_cast<int>(fit_.iterations.size()) > settings_.search.max_iterations) {
      end("iterations", "the limit of " + std::to_string(settings_.search.max_iterations) +
                            " iterations was reached; raise `max_iterations`");
      return false;
    }
    if (move(here, d, last)) continue;
    // Rounding may stop the last steps before they reach the share of noise.
    if (decrement < settings_.search.tolerance) return true;
    end("stopped", "no step from here raises the likelihood");
    return false;
  }
}

// Moves along a step, or along the first shortened step whose gain is as predicted.
bool TraitProbeFit::move(const ConeModel& here, const Vector& d, bool last) {
  const double squared = squared_length(here, d);
  const double slope = dot(here.score, d);
  const double shortest = kShortestOfTraits * std::sqrt(settings_.search.tolerance);
  for (double share = 1; share * std::sqrt(squared) >= shortest; share /= 4) {
    Vector theta = here.at;
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += share * d[i];
    TraitPoint next = points_.at(theta, few(), tolerance_of_solves(last), here_);
    const double gain = share * (slope + dot(local(next).score, d)) / 2;
    const double promised = share * (slope - share * squared / 2);
    if (gain >= kLeastGainOfTraits * promised) {
      here_ = std::move(next);
      length_ = share * std::sqrt(squared);
      return true;
    }
  }
  return false;
}

void TraitProbeFit::add_batches() {
  first_ = values_of(here_);
  batch_ = first_;
  while (true) {
    const LocalModel here = free_model();
    const Vector errors = free_part(mc_score());
    const int count = batch_.probes();
    if (plan_.enough(count, here, errors)) return;
    const int needed = plan_.needed(count, here, errors, kProbeReserve);
    const int more =
        std::min({std::max(needed - count, kTraitBatch), settings_.columns, plan_.most() - count});
    batch_.add(points_.values(here_.theta, count, more).values());
  }
}

TraitFit TraitProbeFit::run() {
  bool going = search(false);
  while (going) {
    if (!is_exact()) {
      add_batches();
      if (!search(true)) break;
    }
    const double share = monte_carlo_share(free_model(), free_part(mc_score()));
    if (share <= kNoiseOfSteps * settings_.mc_tolerance) {
      end("converged", "");
      break;
    }
    if (all_probes() >= plan_.most()) {
      end("max_probes", too_few_probes_message(share));
      break;
    }
  }
  const ConeModel here = local(here_);
  fit_.theta = here.at;
  fit_.score = here.score;
  fit_.average = here.information;
  fit_.mc_score = mc_score();
  fit_.probes = all_probes();
  add_log_likelihood();
  return std::move(fit_);
}

// Whitening changes the density by |T|, and the length of the fixed effects' basis.
void TraitProbeFit::add_log_likelihood() {
  const RestrictedCovariance covariance(model_, kernels_.weights_of(here_.theta));
  const int count = plan_.takes_all() ? plan_.most() : std::min(all_probes(), settings_.columns);
  const LogDeterminant determinant =
      log_determinant(covariance, sketch_, plan_.probes(), count, std::nan(""), settings_);
  if (!determinant.reached) end("quadrature", quadrature_message());
  double sum = determinant.value;
  double square = 0;
  column_products(model_.workers, model_.samples(), 1, model_.fixed.projected_y().data(),
                  here_.solutions.data(), &square);
  const int p = model_.fixed.effects();
  Vector products(area(p, p));
  cross_block(model_.workers, model_.samples(), p, p, model_.data.x.data(), model_.data.x.data(),
              products.data());
  if (p > 0) cholesky(p, products.data());
  for (int j = 0; j < p; ++j) sum += 2 * std::log(products[area(p + 1, j)]);
  const auto freedom = static_cast<double>(model_.fixed.freedom());
  fit_.log_likelihood = values_.log_determinant() - 0.5 * (freedom * kLogTwoPi + sum + square);
  fit_.mc_log_likelihood = plan_.exact(count) ? 0 : determinant.error / 2;
}

TraitEffects TraitProbeFit::effects() {
  const Vector weights = kernels_.weights_of(here_.theta);
  Fit whitened;
  whitened.residual_projection.assign(here_.solutions.begin(),
                                      here_.solutions.begin() + model_.samples());
  solved_ = add_solution(RestrictedCovariance(model_, weights), Preconditioner(sketch_, weights),
                         SolveTolerances(settings_.search.tolerance), settings_.columns, whitened);
  return {std::move(whitened.coefficients), std::move(whitened.coefficients_covariance),
          values_.spread(whitened.residual_projection.data(), 1)};
}

}  // namespace

TraitFit fit_traits_by_probes(const TraitData& data, Kernels& kernels,
                              const StochasticSettings& settings, const Workers& workers) {
  const TraitStudy study(data, kernels);
  const auto samples = static_cast<std::int64_t>(data.samples);
  const Vector covariance = phenotypic_covariance(study.traits(), data.samples);
  const TraitValues values(study.traits(), samples, covariance, workers);
  TraitKernels whitened(values, kernels, workers);
  const FitData response = whitened_data(study, values, data.names);
  const FixedEffects fixed(response, workers);
  const RestrictedModel model(response, whitened, fixed, workers);
  StochasticSettings own = settings;
  own.matrix.clear();
  own.columns = columns_for(values.size());
  FitData named;
  named.names = data.names;
  return with_names(named, kernels.components(), [&] {
    TraitProbeFit search(study, values, whitened, model, covariance, own);
    TraitFit fit = search.run();
    const TraitEffects effects = search.effects();
    if (!search.solved()) {
      fit.status = "solves";
      fit.message = unsolved_message();
    }
    fit.converged = fit.status == "converged";
    return study.finished(std::move(fit), effects, kernels);
  });
}

}  // namespace ancify::reml
