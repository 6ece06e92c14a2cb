// With Q = (Q1, Q2), X = Q1 R, and A = Q2'KQ2, y2 = Q2'y on the complement of X,
//   l = -((n - p) log 2pi + log|H2| + y2'H2^-1 y2) / 2,  H2 = Q2'HQ2,  P = Q2 H2^-1 Q2'
// is the restricted log-likelihood without log|X'X|, so it does not depend on the basis of X's
// columns (Harville 1974, Biometrika 61, 383). The fixed effects and their covariance are
//   b = R^-1 (Q1'y - H12 H2^-1 y2),  R^-1 (H11 - H12 H2^-1 H21) R'^-1,  H12 = Q1'HQ2.
#include "core/reml/exact/exact_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/exact/search.h"
#include "core/reml/fit/error_contrasts.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/large_matrices.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

InputError not_positive(const std::string& name, const std::vector<double>& theta) {
  std::string values;
  for (const double value : theta) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    values += (values.empty() ? "" : ", ") + std::string(text);
  }
  return InputError("the covariance of y is not positive where `" + name + "` is " + values +
                    "; choose other values");
}

const FitData& checked(const FitData& data, const Kernels& kernels) {
  check_data(data);
  check_samples(data, kernels);
  return data;
}

// Replaces Q'KQ by Q2'KQ2.
void keep_inner(const ErrorContrasts& contrasts, Vector& k) {
  const auto n = static_cast<std::size_t>(contrasts.samples());
  const auto p = static_cast<std::size_t>(contrasts.effects());
  const auto size = n - p;
  // Each column moves to the front, so none is overwritten before it has moved.
  for (std::size_t j = 0; j < size; ++j) {
    const auto from = k.begin() + static_cast<std::ptrdiff_t>((p + j) * n + p);
    std::copy(from, from + static_cast<std::ptrdiff_t>(size),
              k.begin() + static_cast<std::ptrdiff_t>(j * size));
  }
  k.resize(size * size);
}

// A model in units in which y is about 1. The unit is a power of 2, so that nothing is rounded.
class ExactProblem {
 public:
  ExactProblem(const FitData& data, Kernels& kernels, const Workers& workers)
      : data_(checked(data, kernels)), kernels_(kernels), workers_(workers), contrasts_(data) {
    y_ = contrasts_.rotate(data.y);
    choose_unit();
    for (double& value : y_) value /= unit_;
    make_model();
  }

  ExactModel& model() { return *model_; }
  const OneKernelModel* one_kernel() const { return one_kernel_; }
  double unit() const { return unit_; }

  // Converts values by component to and from the user's units.
  Vector scaled(Vector theta) const { return times(std::move(theta), 1 / (unit_ * unit_)); }
  Vector unscaled(Vector theta) const { return times(std::move(theta), unit_ * unit_); }
  Vector score(Vector values) const { return times(std::move(values), 1 / (unit_ * unit_)); }
  Vector information(Vector values) const {
    return times(std::move(values), 1 / (unit_ * unit_ * unit_ * unit_));
  }
  Derivatives unscaled(Derivatives at) const {
    return {score(std::move(at.score)), score(std::move(at.traces)),
            information(std::move(at.average)), information(std::move(at.expected))};
  }
  double log_likelihood(double value) const { return value - contrasts_.size() * std::log(unit_); }

  double variance() const { return unit_ * unit_ * scaled_variance(); }
  // The null model, without genetic components. The main model is freed first, as its matrices are
  // large.
  double null_log_likelihood();
  // Bounds in units of the model.
  Vector bounds(const Vector& lower) const {
    return scaled(with_default_bounds(lower, variance(), data_.residuals()));
  }

  // P y of all samples, from that on the complement.
  Vector residual_projection(const Vector& py) const {
    Vector padded(static_cast<std::size_t>(contrasts_.effects()), 0.0);
    padded.insert(padded.end(), py.begin(), py.end());
    return times(contrasts_.rotate_back(std::move(padded)), 1 / unit_);
  }
  // Adds the effects at theta (in units of the model), the model's current point.
  void add_effects(const Vector& theta, Fit& fit) const;

 private:
  static Vector times(Vector values, double factor) {
    for (double& value : values) value *= factor;
    return values;
  }

  void choose_unit();
  void make_model();
  // Q2'KQ2 of a kernel; components past the kernels are the diag(q_a) of residuals. Keeps Q'KQ1.
  Vector rotated(int component);
  void fill_dense(int component, Vector& k) const;
  double mean_diagonal(int component) const;
  const double* shares(int residual) const {
    return data_.residual_shares.data() + residual * data_.samples();
  }
  // The model of kernels from `first` on.
  std::unique_ptr<ExactModel> several_kernels(int first);
  int extra_residuals() const { return data_.residuals() - 1; }  // besides I
  double scaled_variance() const {
    const auto p = static_cast<std::ptrdiff_t>(contrasts_.effects());
    return std::inner_product(y_.begin() + p, y_.end(), y_.begin() + p, 0.0) / contrasts_.size();
  }

  const FitData& data_;
  Kernels& kernels_;
  Workers workers_;
  ErrorContrasts contrasts_;
  Vector y_;  // Q'y
  double unit_ = 1;
  std::vector<Vector> on_effects_;  // Q'KQ1 of each kernel, n x p
  std::unique_ptr<ExactModel> model_;
  const OneKernelModel* one_kernel_ = nullptr;
  const HeterogeneousModel* heterogeneous_model_ = nullptr;
};

void ExactProblem::choose_unit() {
  const auto norm = [](auto from, auto to) {
    double sum = 0;
    for (; from != to; ++from) sum = std::hypot(sum, *from);
    return sum;
  };
  unit_ = response_unit(norm(y_.begin(), y_.end()),
                        norm(y_.begin() + contrasts_.effects(), y_.end()), contrasts_.size());
}

void ExactProblem::fill_dense(int component, Vector& k) const {
  if (component < kernels_.components()) return kernels_.dense(component, k.data());
  const double* const q = shares(component - kernels_.components());
  const auto n = static_cast<std::size_t>(data_.samples());
  for (std::size_t i = 0; i < n; ++i) k[i * (n + 1)] = q[i];
}

double ExactProblem::mean_diagonal(int component) const {
  if (component < kernels_.components()) return kernels_.mean_diagonal(component);
  return data_.mean_residual(component - kernels_.components());
}

Vector ExactProblem::rotated(int component) {
  const auto n = static_cast<std::size_t>(contrasts_.samples());
  const auto p = static_cast<std::size_t>(contrasts_.effects());
  const auto size = n - p;
  const std::string name = component_name(data_, static_cast<std::size_t>(component));
  Vector k(n * n);
  fill_dense(component, k);
  TaskContext(workers_.control).throw_if_stopped();
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (!std::isfinite(k[i])) {
      throw InputError("the kernel of " + name + " has a value that is not finite in row " +
                       std::to_string(i % n + 1) + ", column " + std::to_string(i / n + 1));
    }
  }
  contrasts_.rotate_kernel(workers_, k.data());
  on_effects_[static_cast<std::size_t>(component)].assign(
      k.begin(), k.begin() + static_cast<std::ptrdiff_t>(n * p));
  keep_inner(contrasts_, k);
  double trace = 0;
  for (std::size_t j = 0; j < size; ++j) trace += k[j * size + j];
  check_variance_left(trace, mean_diagonal(component) * static_cast<double>(n), name);
  return k;
}

void ExactProblem::make_model() {
  const int parts = kernels_.components() + extra_residuals();
  on_effects_.resize(static_cast<std::size_t>(parts));
  const Vector y(y_.begin() + contrasts_.effects(), y_.end());
  if (kernels_.components() == 1 && extra_residuals() == 0) {
    auto model =
        std::make_unique<OneKernelModel>(rotated(0), y, component_name(data_, 0), workers_);
    one_kernel_ = model.get();
    model_ = std::move(model);
    return;
  }
  model_ = several_kernels(0);
  if (extra_residuals() == 0) return;
  auto model = std::make_unique<HeterogeneousModel>(std::move(model_), data_.residuals());
  heterogeneous_model_ = model.get();
  model_ = std::move(model);
}

std::unique_ptr<ExactModel> ExactProblem::several_kernels(int first) {
  std::vector<Vector> rotated_kernels;
  std::vector<std::string> names;
  for (int g = first; g < kernels_.components() + extra_residuals(); ++g) {
    rotated_kernels.push_back(rotated(g));
    names.push_back(component_name(data_, static_cast<std::size_t>(g)));
  }
  return std::make_unique<CholeskyModel>(std::move(rotated_kernels),
                                         Vector(y_.begin() + contrasts_.effects(), y_.end()), names,
                                         workers_);
}

double ExactProblem::null_log_likelihood() {
  model_.reset();
  const int n = contrasts_.size();
  if (extra_residuals() == 0) {
    return log_likelihood(-0.5 * n * (kLogTwoPi + std::log(scaled_variance()) + 1));
  }
  HeterogeneousModel model(several_kernels(kernels_.components()), data_.residuals());
  SearchSettings settings;
  const auto k = static_cast<std::size_t>(data_.residuals());
  settings.lower = bounds(Vector(k, std::numeric_limits<double>::quiet_NaN()));
  return log_likelihood(search(model, settings).log_likelihood);
}

void ExactProblem::add_effects(const Vector& of_residuals, Fit& fit) const {
  const Vector theta = heterogeneous_model_ == nullptr
                           ? of_residuals
                           : heterogeneous_model_->residual().with_identity(of_residuals);
  const auto n = static_cast<std::size_t>(contrasts_.samples());
  const auto p = static_cast<std::size_t>(contrasts_.effects());
  Vector h(n * p);  // Q'HQ1, in units of the model
  for (std::size_t g = 0; g < on_effects_.size(); ++g) {
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += theta[g] * on_effects_[g][i];
  }
  for (std::size_t j = 0; j < p; ++j) h[j * n + j] += theta.back();
  const Vector py = model_->solve_y();
  Vector b(y_.begin(), y_.begin() + static_cast<std::ptrdiff_t>(p));
  Vector h21;
  for (std::size_t j = 0; j < p; ++j) {
    const auto column = h.begin() + static_cast<std::ptrdiff_t>(j * n);
    h21.insert(h21.end(), column + static_cast<std::ptrdiff_t>(p),
               column + static_cast<std::ptrdiff_t>(n));
    b[j] -= std::inner_product(py.begin(), py.end(), column + static_cast<std::ptrdiff_t>(p), 0.0);
  }
  const Vector solved = p == 0 ? Vector() : model_->solve(h21);
  Vector covariance(p * p);
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = j; i < p; ++i) {
      const auto left = h21.begin() + static_cast<std::ptrdiff_t>(i * (n - p));
      const auto right = solved.begin() + static_cast<std::ptrdiff_t>(j * (n - p));
      const double both =
          std::inner_product(left, left + static_cast<std::ptrdiff_t>(n - p), right, 0.0);
      covariance[j * p + i] = covariance[i * p + j] = h[j * n + i] - both;
    }
  }
  fit.coefficients = times(contrasts_.solve(std::move(b)), unit_);
  fit.coefficients_covariance = unscaled(contrasts_.solve_both_sides(std::move(covariance)));
  fit.residual_projection = residual_projection(py);
  const auto components = static_cast<std::size_t>(kernels_.components());
  fit.genetic.resize(n * components);
  for (std::size_t g = 0; g < components; ++g) {
    Vector one(components, 0.0);
    one[g] = theta[g] * unit_ * unit_;
    kernels_.times(one.data(), fit.residual_projection.data(), 1, Precision::kFull,
                   &fit.genetic[g * n]);
  }
}

// H at theta, n x n.
Vector covariance_at(const FitData& data, Kernels& kernels, const Vector& theta) {
  const auto n = static_cast<std::size_t>(kernels.samples());
  Vector h(n * n);
  Vector kernel;
  bool is_first = true;
  for (int g = 0; g < kernels.components(); ++g) {
    const double variance = theta[static_cast<std::size_t>(g)];
    if (variance == 0) continue;
    if (std::exchange(is_first, false)) {
      kernels.dense(g, h.data());
      for (double& value : h) value *= variance;
      continue;
    }
    kernel.resize(n * n);
    kernels.dense(g, kernel.data());
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += variance * kernel[i];
  }
  const auto residuals = static_cast<std::size_t>(data.residuals());
  for (std::size_t a = 0; a < residuals; ++a) {
    const double variance = theta[theta.size() - residuals + a];
    for (std::size_t i = 0; i < n; ++i) {
      const double share = data.residual_shares.empty() ? 1 : data.residual_shares[a * n + i];
      h[i * (n + 1)] += variance * share;
    }
  }
  return h;
}

}  // namespace

Fit fit_exact(const FitData& data, Kernels& kernels, const SearchSettings& settings,
              const Workers& workers) {
  ExactProblem problem(data, kernels, workers);
  SearchSettings scaled = settings;
  scaled.start = problem.scaled(settings.start);
  scaled.lower = problem.bounds(settings.lower);
  const Maximum maximum = search(problem.model(), scaled);
  if (maximum.theta.empty()) throw not_positive("start", settings.start);
  Fit fit;
  fit.theta = problem.unscaled(maximum.theta);
  fit.score = problem.score(maximum.derivatives.score);
  fit.information = problem.information(maximum.information);
  fit.log_likelihood = problem.log_likelihood(maximum.log_likelihood);
  fit.mc_score.resize(fit.information.size());
  for (int g = 0; g < kernels.components(); ++g) {
    fit.mean_diagonal.push_back(kernels.mean_diagonal(g));
  }
  for (int a = 0; a < data.residuals(); ++a) fit.mean_diagonal.push_back(data.mean_residual(a));
  fit.at_bound = maximum.at_bound;
  fit.converged = maximum.converged;
  fit.status = maximum.status;
  fit.message = maximum.message;
  for (Iteration at : maximum.iterations) {
    at.theta = problem.unscaled(at.theta);
    at.log_likelihood = problem.log_likelihood(at.log_likelihood);
    fit.iterations.push_back(std::move(at));
  }
  problem.add_effects(maximum.theta, fit);
  fit.passes = kernels.passes();
  if (problem.one_kernel() != nullptr) {
    fit.kernel_diagonal = problem.one_kernel()->form().diagonal();
    fit.kernel_off_diagonal = problem.one_kernel()->form().off_diagonal();
  }
  fit.method = "exact";
  fit.log_likelihood_null = problem.null_log_likelihood();
  return fit;
}

std::vector<LikelihoodAt> likelihoods_at(const FitData& data, Kernels& kernels,
                                         const std::vector<std::vector<double>>& thetas,
                                         bool expected, const Workers& workers) {
  ExactProblem problem(data, kernels, workers);
  ExactModel& model = problem.model();
  std::vector<LikelihoodAt> result;
  for (const auto& theta : thetas) {
    if (!model.move_to(problem.scaled(theta))) throw not_positive("theta", theta);
    result.push_back({problem.log_likelihood(model.log_likelihood()), model.quadratic(),
                      problem.unscaled(model.derivatives(expected))});
  }
  return result;
}

LikelihoodPoint exact_point(const FitData& data, Kernels& kernels, const Vector& theta,
                            const Workers& workers) {
  ExactProblem problem(data, kernels, workers);
  ExactModel& model = problem.model();
  if (!model.move_to(problem.scaled(theta))) throw not_positive("theta", theta);
  Derivatives at = problem.unscaled(model.derivatives(false));
  return {std::move(at.score), std::move(at.average), problem.residual_projection(model.solve_y())};
}

// P = Q2 H2^-1 Q2', with H2 = Q2'HQ2.
std::vector<double> projection_at(const FitData& data, Kernels& kernels,
                                  const std::vector<double>& theta, const Workers& workers) {
  const ErrorContrasts contrasts(checked(data, kernels));
  const auto n = static_cast<std::size_t>(contrasts.samples());
  const auto p = static_cast<std::size_t>(contrasts.effects());
  Vector h = covariance_at(data, kernels, theta);
  contrasts.rotate_kernel(workers, h.data());
  const Square inner = {contrasts.size(), &h[p * (n + 1)], contrasts.samples()};
  if (!factorise(workers, inner)) throw not_positive("theta", theta);
  invert(workers, inner);
  for (std::size_t j = 0; j < n; ++j) {
    const auto column = h.begin() + static_cast<std::ptrdiff_t>(j * n);
    std::fill_n(column, j < p ? n : p, 0.0);
  }
  contrasts.rotate_kernel_back(workers, h.data());
  return h;
}

}  // namespace ancify::reml
