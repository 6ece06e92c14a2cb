// Fits several traits, in units in which each is about 1.
#include "core/reml/multivariate/multivariate_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/fit/error_contrasts.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/multivariate/trait_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// s'I^-1 s at the end of a constrained search, which is about the error of its likelihood ratio.
constexpr double kToleranceOfTests = 1e-9;

// A study and its model.
class TraitProblem {
 public:
  TraitProblem(const TraitData& data, Kernels& kernels, const Workers& workers);

  const TraitStudy& study() const { return study_; }
  TraitModel& model() { return *model_; }
  TraitMaximum maximum(const SearchSettings& settings);

 private:
  // Diagonal covariances, of which the genetic components have this share.
  Vector start(double share) const;

  TraitStudy study_;
  std::unique_ptr<TraitModel> model_;
  Vector diagonals_;  // mean diagonal of each kernel
};

TraitProblem::TraitProblem(const TraitData& data, Kernels& kernels, const Workers& workers)
    : study_(data, kernels) {
  for (int g = 0; g < kernels.components(); ++g) diagonals_.push_back(kernels.mean_diagonal(g));
  std::vector<std::string> names;
  for (const std::string& name : data.names) names.push_back("'" + name + "'");
  model_ = study_.complete() && kernels.components() == 1
               ? one_kernel_traits(study_.traits(), kernels, names[0], workers)
               : dense_traits(study_.traits(), kernels, names, workers);
}

Vector TraitProblem::start(double share) const {
  const auto pairs = trait_pairs(study_.traits().size());
  Vector theta;
  for (std::size_t g = 0; g < model_->components(); ++g) {
    const bool genetic = g < diagonals_.size();
    const double part =
        genetic ? share / static_cast<double>(diagonals_.size()) / diagonals_[g] : 1 - share;
    for (const auto& [row, column] : pairs) {
      theta.push_back(row == column ? part * study_.traits()[row].variance : 0);
    }
  }
  return theta;
}

TraitMaximum TraitProblem::maximum(const SearchSettings& settings) {
  std::vector<Vector> starts = {start(0.2), start(0.5), start(0.8)};
  const auto height = [&](const Vector& theta) {
    return model_->move_to(theta) ? model_->log_likelihood()
                                  : -std::numeric_limits<double>::infinity();
  };
  if (!model_->search_is_cheap()) {
    Vector heights;
    for (const Vector& theta : starts) heights.push_back(height(theta));
    const auto best = std::max_element(heights.begin(), heights.end()) - heights.begin();
    starts = {starts[static_cast<std::size_t>(best)]};
  }
  const TraitSpace space(*model_, {}, study_.floor());
  TraitMaximum best;
  best.log_likelihood = -std::numeric_limits<double>::infinity();
  for (const Vector& theta : starts) {
    TraitMaximum found = search_traits(*model_, space, theta, settings);
    if (found.log_likelihood > best.log_likelihood) best = std::move(found);
  }
  if (starts.size() > 1) model_->move_to(best.theta);
  return best;
}

}  // namespace

TraitFit fit_traits(const TraitData& data, Kernels& kernels, const SearchSettings& settings,
                    const Workers& workers) {
  FitData named;
  named.names = data.names;
  TraitProblem problem(data, kernels, workers);
  const TraitStudy& study = problem.study();
  TraitMaximum maximum =
      with_names(named, kernels.components(), [&] { return problem.maximum(settings); });
  TraitFit fit;
  fit.theta = std::move(maximum.theta);
  fit.score = std::move(maximum.derivatives.score);
  fit.average = std::move(maximum.derivatives.average);
  fit.expected = std::move(maximum.derivatives.expected);
  fit.mc_score.resize(fit.average.size());
  fit.log_likelihood = maximum.log_likelihood;
  fit.converged = maximum.converged;
  fit.status = std::move(maximum.status);
  fit.message = std::move(maximum.message);
  fit.iterations = std::move(maximum.iterations);
  return study.finished(std::move(fit), problem.model().effects(), kernels);
}

std::vector<double> constrained_log_likelihoods(const TraitData& data, Kernels& kernels,
                                                const std::vector<double>& theta,
                                                const std::vector<TraitConstraint>& constraints,
                                                const SearchSettings& settings,
                                                const Workers& workers) {
  TraitProblem problem(data, kernels, workers);
  const TraitStudy& study = problem.study();
  const Vector start = study.scaled(theta, -1);
  SearchSettings coarse = settings;
  coarse.tolerance = std::max(settings.tolerance, kToleranceOfTests);
  Vector result;
  for (TraitConstraint constraint : constraints) {
    const auto found = [&] {
      const TraitSpace space(problem.model(), constraint, study.floor());
      return search_traits(problem.model(), space, start, coarse);
    };
    TraitMaximum maximum = found();
    if (!maximum.converged && constraint.kind == TraitConstraint::Kind::kProportional) {
      // The ratio of the traits is infinite where the other one has no variance: take its inverse.
      std::swap(constraint.pair.row, constraint.pair.column);
      maximum = found();
    }
    result.push_back(maximum.converged ? study.log_likelihood(maximum.log_likelihood)
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace ancify::reml
