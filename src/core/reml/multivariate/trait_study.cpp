// Reads the traits of data, and converts results to the user's units.
#include "core/reml/multivariate/trait_study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/fit/error_contrasts.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// The least eigenvalue of the residual covariance, as a share of the traits' variances.
constexpr double kLeastResidual = 1e-6;

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

}  // namespace

TraitStudy::TraitStudy(const TraitData& data, const Kernels& kernels)
    : data_(data), components_(static_cast<std::size_t>(kernels.components()) + 1) {
  if (kernels.samples() != static_cast<std::int64_t>(data.samples)) {
    throw InputError("the kernels have other samples than the traits");
  }
  for (std::size_t a = 0; a < data.traits(); ++a) traits_.push_back(trait_of(data, a));
}

bool TraitStudy::complete() const {
  return std::all_of(traits_.begin(), traits_.end(),
                     [&](const Trait& trait) { return trait.rows.size() == data_.samples; });
}

double TraitStudy::floor() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Trait& trait : traits_) least = std::min(least, trait.variance);
  return kLeastResidual * least;
}

// The unit of each of theta's values.
Vector TraitStudy::units() const {
  Vector result;
  for (std::size_t g = 0; g < components_; ++g) {
    for (const auto& [row, column] : trait_pairs(traits_.size())) {
      result.push_back(traits_[row].unit * traits_[column].unit);
    }
  }
  return result;
}

Vector TraitStudy::scaled(Vector values, double power) const {
  const Vector unit = units();
  const std::size_t k = unit.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= std::pow(unit[i % k], power);
    if (values.size() > k) values[i] *= std::pow(unit[i / k], power);
  }
  return values;
}

double TraitStudy::log_likelihood(double value) const {
  for (const Trait& trait : traits_) value -= trait.contrasts.size() * std::log(trait.unit);
  return value;
}

void TraitStudy::add_effects(const TraitEffects& effects, Kernels& kernels, TraitFit& fit) const {
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
    const Vector covariances = unpacked(t, &fit.theta[g * number_of_pairs(t)]);
    for (std::size_t a = 0; a < t; ++a) {
      double* const out = &fit.genetic[(g * t + a) * n];
      for (std::size_t b = 0; b < t; ++b) {
        for (std::size_t i = 0; i < n; ++i) out[i] += covariances[b * t + a] * times[b * n + i];
      }
    }
  }
}

TraitFit TraitStudy::finished(TraitFit fit, const TraitEffects& effects, Kernels& kernels) const {
  fit.theta = scaled(std::move(fit.theta), 1);
  for (Vector* of_score : {&fit.score, &fit.average, &fit.expected, &fit.mc_score}) {
    *of_score = scaled(std::move(*of_score), -1);
  }
  fit.log_likelihood = log_likelihood(fit.log_likelihood);
  for (Iteration& at : fit.iterations) {
    at.theta = scaled(std::move(at.theta), 1);
    at.log_likelihood = log_likelihood(at.log_likelihood);
  }
  for (int g = 0; g < kernels.components(); ++g) {
    fit.mean_diagonal.push_back(kernels.mean_diagonal(g));
  }
  add_effects(effects, kernels, fit);
  fit.passes = kernels.passes();
  return fit;
}

}  // namespace ancify::reml
