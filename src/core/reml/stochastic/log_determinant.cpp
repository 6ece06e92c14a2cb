// log|SHS| = log|M| + mean over z of [z'log(SHS)z - z'log(M)z], by Lanczos steps from probes z.
#include "core/reml/stochastic/log_determinant.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/reml/linear_algebra/quadrature.h"
#include "core/reml/solvers/lanczos.h"
#include "core/reml/solvers/traces.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

double log_of(double x) { return std::log(x); }

class LogProbes {
 public:
  LogProbes(const RestrictedCovariance& covariance, const Sketch& sketch, const Probes& probes,
            double least, const StochasticSettings& settings)
      : covariance_(covariance),
        sketch_(sketch),
        spectrum_(sketch, covariance.theta()),
        probes_(probes),
        least_(least),
        settings_(settings) {}

  // z'log(SHS)z - z'log(M)z of probes z, and its first-order terms.
  ProbeValues values(int columns, const double* z);
  double known() const { return spectrum_.trace().of(log_of); }
  bool reached() const { return reached_; }

 private:
  const RestrictedCovariance& covariance_;
  const Sketch& sketch_;
  SketchSpectrum spectrum_;
  const Probes& probes_;
  double least_;
  const StochasticSettings& settings_;
  bool reached_ = true;
};

ProbeValues LogProbes::values(int columns, const double* z) {
  const Shadows seen(sketch_, columns, z);
  const ProductShadows product(sketch_, covariance_, columns, z, z);
  ProbeValues known(2);
  for (int c = 0; c < columns; ++c) {
    known.add(
        {spectrum_.form(seen, c).of(log_of), spectrum_.first_order(seen, product, c).of(log_of)});
  }
  Lanczos lanczos(covariance_);
  lanczos.add(columns, z);
  for (int steps = kFirstLanczosSteps;; steps += kLanczosStepsAtOnce) {
    lanczos.advance(steps);
    ProbeValues values(2);
    double error = 0;
    bool ended = true;
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
      const LanczosRun& run = lanczos.runs()[c];
      const SpectralSum gauss = gauss_rule(run);
      const double smallest = *std::min_element(gauss.nodes.begin(), gauss.nodes.end());
      const SpectralSum radau = gauss_radau_rule(run, std::isnan(least_) ? smallest / 2 : least_);
      values.add({gauss.of(log_of) - known.values()[2 * c], known.values()[2 * c + 1]});
      error += (gauss.of(log_of) - radau.of(log_of)) / (2 * columns);
      ended = ended && run.exhausted;
    }
    const ProbeValues left = less_first_order(values, best_share(values, {1}));
    const double random = probes_.exact() ? 0 : std::sqrt(left.covariance_of_mean()[0]) / 2;
    const double allowed = std::max(random, std::sqrt(settings_.search.tolerance));
    if (std::abs(error) <= kQuadratureShare * allowed || ended) return values;
    if (steps >= kMostLanczosSteps) {
      reached_ = false;
      return values;
    }
  }
}

}  // namespace

LogDeterminant log_determinant(const RestrictedCovariance& covariance, const Sketch& sketch,
                               const Probes& probes, int count, double least,
                               const StochasticSettings& settings) {
  const RestrictedModel& model = covariance.model();
  LogProbes log(covariance, sketch, probes, least, settings);
  ProbeValues all(2);
  for (int first = 0; first < count; first += settings.columns) {
    const int columns = std::min(settings.columns, count - first);
    Vector z(area(model.samples(), columns));
    probes.fill(model.workers, first, columns, z.data());
    all.add(log.values(columns, z.data()).values());
  }
  const ProbeValues left = less_first_order(all, best_share(all, {1}));
  return {log.known() + left.mean()[0], std::sqrt(left.covariance_of_mean()[0]), log.reached()};
}

}  // namespace ancify::reml
