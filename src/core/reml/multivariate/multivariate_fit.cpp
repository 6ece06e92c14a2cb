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

// The least eigenvalue of the residual covariance, as a share of the traits' variances.
constexpr double kLeastResidual = 1e-6;

// s'I^-1 s at the end of a constrained search, which is about the error of its likelihood ratio.
constexpr double kToleranceOfTests = 1e-9;

double norm(const Vector& values, std::ptrdiff_t first) {
  double sum = 0;
  for (auto at = values.begin() + first; at != values.end(); ++at) sum = std::hypot(sum, *at);
  return sum;
}

Trait trait_of(const TraitData& data, std::size_t index) {
  std::vector<std::int64_t> rows;
  FitData one;
  for (std::size_t i = 0; i < data.samples; ++i) {
    const double value = data.y[index * data.samples + i];
    if (std::isnan(value)) continue;
    rows.push_back(static_cast<std::int64_t>(i));
    one.y.push_back(value);
  }
  for (std::size_t j = 0; j < data.effects(); ++j) {
    for (const std::int64_t i : rows) {
      one.x.push_back(data.x[j * data.samples + static_cast<std::size_t>(i)]);
    }
  }
  if (one.y.empty()) throw InputError("a trait has no value");
  check_data(one);
  ErrorContrasts contrasts(one);
  const Vector rotated = contrasts.rotate(one.y);
  const double left = norm(rotated, contrasts.effects());
  const double unit = response_unit(norm(rotated, 0), left, contrasts.size());
  for (double& value : one.y) value /= unit;
  const double variance = left * left / (unit * unit * contrasts.size());
  return {std::move(rows), std::move(one.y), unit, variance, std::move(contrasts)};
}

// The model of some data, and conversions to and from the user's units.
class TraitProblem {
 public:
  TraitProblem(const TraitData& data, Kernels& kernels, const Workers& workers);

  TraitModel& model() { return *model_; }
  const std::vector<Trait>& traits() const { return traits_; }
  double floor() const;
  // Diagonal covariances, of which the genetic components have this share.
  Vector start(double share) const;
  TraitMaximum maximum(const SearchSettings& settings);
  // Multiplies each of theta's values, or of a matrix with a row and a column for each, by a power
  // of its unit.
  Vector scaled(Vector values, double power) const;
  double log_likelihood(double value) const;
  // Adds effects at the model's current point, theta in the user's units.
  void add_effects(const Vector& theta, Kernels& kernels, TraitFit& fit);

 private:
  Vector units() const;

  const TraitData& data_;
  std::vector<Trait> traits_;
  std::unique_ptr<TraitModel> model_;
  Vector diagonals_;  // mean diagonal of each kernel
};

TraitProblem::TraitProblem(const TraitData& data, Kernels& kernels, const Workers& workers)
    : data_(data) {
  if (kernels.samples() != static_cast<std::int64_t>(data.samples)) {
    throw InputError("the kernels have other samples than the traits");
  }
  bool complete = true;
  for (std::size_t a = 0; a < data.traits(); ++a) {
    traits_.push_back(trait_of(data, a));
    complete = complete && traits_.back().rows.size() == data.samples;
  }
  for (int g = 0; g < kernels.components(); ++g) diagonals_.push_back(kernels.mean_diagonal(g));
  std::vector<std::string> names;
  for (const std::string& name : data.names) names.push_back("'" + name + "'");
  model_ = complete && kernels.components() == 1
               ? one_kernel_traits(traits_, kernels, names[0], workers)
               : dense_traits(traits_, kernels, names, workers);
}

double TraitProblem::floor() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Trait& trait : traits_) least = std::min(least, trait.variance);
  return kLeastResidual * least;
}

Vector TraitProblem::start(double share) const {
  const auto pairs = trait_pairs(traits_.size());
  Vector theta;
  for (std::size_t g = 0; g < model_->components(); ++g) {
    const bool genetic = g < diagonals_.size();
    const double part =
        genetic ? share / static_cast<double>(diagonals_.size()) / diagonals_[g] : 1 - share;
    for (const auto& [row, column] : pairs) {
      theta.push_back(row == column ? part * traits_[row].variance : 0);
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
  const TraitSpace space(*model_, {}, floor());
  TraitMaximum best;
  best.log_likelihood = -std::numeric_limits<double>::infinity();
  for (const Vector& theta : starts) {
    TraitMaximum found = search_traits(*model_, space, theta, settings);
    if (found.log_likelihood > best.log_likelihood) best = std::move(found);
  }
  if (starts.size() > 1) model_->move_to(best.theta);
  return best;
}

// The unit of each of theta's values.
Vector TraitProblem::units() const {
  Vector result;
  for (std::size_t g = 0; g < model_->components(); ++g) {
    for (const auto& [row, column] : trait_pairs(traits_.size())) {
      result.push_back(traits_[row].unit * traits_[column].unit);
    }
  }
  return result;
}

Vector TraitProblem::scaled(Vector values, double power) const {
  const Vector unit = units();
  const std::size_t k = unit.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= std::pow(unit[i % k], power);
    if (values.size() > k) values[i] *= std::pow(unit[i / k], power);
  }
  return values;
}

double TraitProblem::log_likelihood(double value) const {
  for (const Trait& trait : traits_) value -= trait.contrasts.size() * std::log(trait.unit);
  return value;
}

void TraitProblem::add_effects(const Vector& theta, Kernels& kernels, TraitFit& fit) {
  const TraitEffects effects = model_->effects();
  const std::size_t t = traits_.size();
  const std::size_t p = data_.effects();
  const std::size_t n = data_.samples;
  const auto part = [&](const Vector& values, std::size_t first) {
    return Vector(&values[first], &values[first] + p);
  };
  // R^-1 of each trait from the left, then from the right, by columns.
  Vector covariance = effects.covariance;
  const std::size_t width = p * t;
  for (std::size_t a = 0; a < t && p > 0; ++a) {
    Vector solved = traits_[a].contrasts.solve(part(effects.fixed, a * p));
    for (double& value : solved) value *= traits_[a].unit;
    fit.coefficients.insert(fit.coefficients.end(), solved.begin(), solved.end());
  }
  for (int side = 0; side < 2; ++side) {
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t a = 0; a < t; ++a) {
        const Vector solved = traits_[a].contrasts.solve(part(covariance, j * width + a * p));
        for (std::size_t i = 0; i < p; ++i) {
          covariance[j * width + a * p + i] = solved[i] * traits_[a].unit;
        }
      }
    }
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        std::swap(covariance[j * width + i], covariance[i * width + j]);
      }
    }
  }
  fit.coefficients_covariance = std::move(covariance);
  fit.residual_projection = effects.projection;
  for (std::size_t a = 0; a < t; ++a) {
    for (std::size_t i = 0; i < n; ++i) fit.residual_projection[a * n + i] /= traits_[a].unit;
  }
  const auto components = static_cast<std::size_t>(kernels.components());
  fit.genetic.assign(n * t * components, 0);
  Vector times(n * t);
  for (std::size_t g = 0; g < components; ++g) {
    Vector one(components);
    one[g] = 1;
    kernels.times(one.data(), fit.residual_projection.data(), static_cast<int>(t), Precision::kFull,
                  times.data());
    const Vector covariances = unpacked(t, &theta[g * number_of_pairs(t)]);
    for (std::size_t a = 0; a < t; ++a) {
      double* const out = &fit.genetic[(g * t + a) * n];
      for (std::size_t b = 0; b < t; ++b) {
        for (std::size_t i = 0; i < n; ++i) out[i] += covariances[b * t + a] * times[b * n + i];
      }
    }
  }
}

}  // namespace

TraitFit fit_traits(const TraitData& data, Kernels& kernels, const SearchSettings& settings,
                    const Workers& workers) {
  FitData named;
  named.names = data.names;
  TraitProblem problem(data, kernels, workers);
  TraitMaximum maximum =
      with_names(named, kernels.components(), [&] { return problem.maximum(settings); });
  TraitFit fit;
  fit.theta = problem.scaled(maximum.theta, 1);
  fit.score = problem.scaled(std::move(maximum.derivatives.score), -1);
  fit.average = problem.scaled(std::move(maximum.derivatives.average), -1);
  fit.expected = problem.scaled(std::move(maximum.derivatives.expected), -1);
  fit.log_likelihood = problem.log_likelihood(maximum.log_likelihood);
  for (int g = 0; g < kernels.components(); ++g) {
    fit.mean_diagonal.push_back(kernels.mean_diagonal(g));
  }
  fit.converged = maximum.converged;
  fit.status = std::move(maximum.status);
  fit.message = std::move(maximum.message);
  for (Iteration at : maximum.iterations) {
    at.theta = problem.scaled(std::move(at.theta), 1);
    at.log_likelihood = problem.log_likelihood(at.log_likelihood);
    fit.iterations.push_back(std::move(at));
  }
  problem.add_effects(fit.theta, kernels, fit);
  fit.passes = kernels.passes();
  return fit;
}

std::vector<double> constrained_log_likelihoods(const TraitData& data, Kernels& kernels,
                                                const std::vector<double>& theta,
                                                const std::vector<TraitConstraint>& constraints,
                                                const SearchSettings& settings,
                                                const Workers& workers) {
  TraitProblem problem(data, kernels, workers);
  const Vector start = problem.scaled(theta, -1);
  SearchSettings coarse = settings;
  coarse.tolerance = std::max(settings.tolerance, kToleranceOfTests);
  Vector result;
  for (TraitConstraint constraint : constraints) {
    const auto found = [&] {
      const TraitSpace space(problem.model(), constraint, problem.floor());
      return search_traits(problem.model(), space, start, coarse);
    };
    TraitMaximum maximum = found();
    if (!maximum.converged && constraint.kind == TraitConstraint::Kind::kProportional) {
      // The ratio of the traits is infinite where the other one has no variance: take its inverse.
      std::swap(constraint.pair.row, constraint.pair.column);
      maximum = found();
    }
    result.push_back(maximum.converged ? problem.log_likelihood(maximum.log_likelihood)
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace ancify::reml
