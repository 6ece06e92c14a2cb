// Both paths use units of y in which its variance beyond X is about 1. The variance's unit is a
// power of 4, so that nothing is rounded, and a fit's bytes do not depend on the units of y.
#include "core/reml/stochastic/stochastic_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/fit/fixed_effects.h"
#include "core/reml/kernels/heterogeneous_residual.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/solvers/covariance.h"
#include "core/reml/stochastic/lanczos_fit.h"
#include "core/reml/stochastic/probe_fit.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

void multiply(Vector& values, double factor) {
  for (double& value : values) value *= factor;
}

// Converts the fit to units of y that are `unit` times smaller.
Fit unscaled(Fit fit, double unit, double freedom) {
  const double square = unit * unit;
  multiply(fit.theta, square);
  multiply(fit.score, 1 / square);
  multiply(fit.information, 1 / (square * square));
  multiply(fit.mc_score, 1 / (square * square));
  multiply(fit.coefficients, unit);
  multiply(fit.coefficients_covariance, square);
  multiply(fit.residual_projection, 1 / unit);
  multiply(fit.genetic, unit);
  fit.log_likelihood -= freedom * std::log(unit);
  fit.log_likelihood_null -= freedom * std::log(unit);
  for (Iteration& at : fit.iterations) {
    at.log_likelihood -= freedom * std::log(unit);
    multiply(at.theta, square);
  }
  return fit;
}

// Kernels whose products have full precision, whatever precision is requested.
class FullKernels : public Kernels {
 public:
  explicit FullKernels(Kernels& kernels) : kernels_(kernels) {}
  std::int64_t samples() const override { return kernels_.samples(); }
  int components() const override { return kernels_.components(); }
  double mean_diagonal(int component) const override { return kernels_.mean_diagonal(component); }
  void times(const double* theta, const double* v, int columns, Precision /*precision*/,
             double* out) override {
    kernels_.times(theta, v, columns, Precision::kFull, out);
  }
  void quadratic_forms(const double* a, const double* b, int columns, Precision /*precision*/,
                       double* forms) override {
    kernels_.quadratic_forms(a, b, columns, Precision::kFull, forms);
  }
  void dense(int component, double* out) override { kernels_.dense(component, out); }
  double passes() const override { return kernels_.passes(); }

 private:
  Kernels& kernels_;
};

// The smallest s'I^-1 s attainable with 28-bit products.
constexpr double kLeastOfProbes = 1e-12;

// The likelihood without genetic components. A residual by ancestry takes a fit of its own, without
// passes.
double null_log_likelihood(FitData data, const FixedEffects& fixed, StochasticSettings settings,
                           const Workers& workers) {
  const int residuals = data.residuals();
  if (residuals == 1) {
    return -0.5 * static_cast<double>(fixed.freedom()) *
           (kLogTwoPi + std::log(fixed.variance()) + 1);
  }
  if (!data.names.empty()) data.names.erase(data.names.begin(), data.names.end() - residuals);
  ResidualKernels kernels(nullptr, data);
  const RestrictedModel model(data, kernels, fixed, workers);
  settings.search.start.clear();
  const Vector unknown(static_cast<std::size_t>(residuals), std::nan(""));
  settings.search.lower = with_default_bounds(unknown, fixed.variance(), residuals);
  return fit_several_components(model, settings, {}, {}).log_likelihood;
}

}  // namespace

int columns_for(std::int64_t samples) {
  constexpr std::int64_t kBytes = 48'000'000;
  constexpr std::int64_t kBlocks = 4;  // of n x columns values
  const auto fit = kBytes / (kBlocks * static_cast<std::int64_t>(sizeof(double)) * samples);
  return static_cast<int>(std::clamp<std::int64_t>(fit, 32, 1024));
}

Fit fit_stochastic(const FitData& data, Kernels& kernels, const StochasticSettings& settings,
                   const Checkpoint& checkpoint, JobControl& control, int threads) {
  // Progress counts passes, whose expected number is a guess.
  control.expect(kernels.components() == 1 ? 60 : 200);
  const Workers workers = {control, threads};
  const FixedEffects given(data, workers);
  const double unit = given.unit();
  FitData scaled = data;
  multiply(scaled.y, 1 / unit);
  const FixedEffects fixed(scaled, workers);
  ResidualKernels all(&kernels, data);
  FullKernels full(all);
  Kernels& used = settings.search.tolerance < kLeastOfProbes ? full : static_cast<Kernels&>(all);
  const RestrictedModel model(scaled, used, fixed, workers);

  StochasticSettings own = settings;
  own.search.lower = with_default_bounds(settings.search.lower, given.variance(), data.residuals());
  multiply(own.search.lower, 1 / (unit * unit));
  multiply(own.search.start, 1 / (unit * unit));
  StochasticState state;
  if (checkpoint.from != nullptr) state = *checkpoint.from;
  const auto fit_components = used.components() == 1 ? fit_one_component : fit_several_components;
  Fit fit = with_names(data, used.components(), [&] {
    return fit_components(model, own, std::move(state), checkpoint.save);
  });
  for (int g = 0; g < kernels.components(); ++g) {
    fit.mean_diagonal.push_back(kernels.mean_diagonal(g));
  }
  for (int a = 0; a < data.residuals(); ++a) fit.mean_diagonal.push_back(data.mean_residual(a));
  fit.log_likelihood_null = null_log_likelihood(scaled, fixed, own, workers);
  fit.method = "stochastic";
  return unscaled(std::move(fit), unit, static_cast<double>(fixed.freedom()));
}

}  // namespace ancify::reml
