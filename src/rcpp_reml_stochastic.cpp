// Connects stochastic REML with the core. rcpp_reml.h describes a `problem`.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/reml/stochastic/haseman_elston.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "rcpp_fields.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

using Vector = std::vector<double>;

reml::HasemanElstonSettings as_moment_settings(const reml::StochasticSettings& stochastic,
                                               int blocks) {
  reml::HasemanElstonSettings settings;
  settings.blocks = blocks;
  settings.max_probes = stochastic.max_probes;
  settings.mc_tolerance = stochastic.mc_tolerance;
  settings.seed = stochastic.seed;
  settings.columns = stochastic.columns;
  return settings;
}

// ---- The state of a fit, as a list --------------------------------------------------------------

// A column for each iteration.
Rcpp::NumericMatrix as_matrix(const std::vector<reml::Iteration>& iterations) {
  const std::size_t rows = iterations.empty() ? 4 : 4 + iterations.front().theta.size();
  auto matrix = make_matrix(static_cast<int>(rows), static_cast<int>(iterations.size()));
  double* out = matrix.begin();
  for (const auto& at : iterations) {
    const Vector head = {at.log_likelihood, at.decrement, static_cast<double>(at.probes), at.step};
    out = std::copy(head.begin(), head.end(), out);
    out = std::copy(at.theta.begin(), at.theta.end(), out);
  }
  return matrix;
}

std::vector<reml::Iteration> as_iterations(Rcpp::NumericMatrix matrix) {
  std::vector<reml::Iteration> iterations;
  for (int j = 0; j < matrix.ncol(); ++j) {
    const Rcpp::NumericVector column = matrix(Rcpp::_, j);
    iterations.push_back({column[0], column[1], static_cast<int>(column[2]), column[3],
                          Vector(column.begin() + 4, column.end())});
  }
  return iterations;
}

// All Lanczos runs, one after the other.
struct JoinedRuns {
  Vector squares;
  std::vector<int> steps;
  std::vector<int> exhausted;
  Vector diagonal;
  Vector beside;
};

// A number that may be NaN: the fit refuses one, and names the checkpoint.
double as_number_or_nan(Vector value) {
  if (value.size() != 1) throw FieldFault("is not one number");
  return value[0];
}

Vector as_vector(const double& value) { return {value}; }

using Phase = reml::StochasticState::Phase;

int as_int(const Phase& phase) { return static_cast<int>(phase); }

Phase as_phase(int phase) { return static_cast<Phase>(phase); }

Rcpp::List as_list(const std::vector<reml::LanczosRun>& runs);
std::vector<reml::LanczosRun> as_runs(Rcpp::List list);
Rcpp::List as_list(const reml::ProbePoint& point);
reml::ProbePoint as_point(Rcpp::List list);

}  // namespace

template <>
struct Fields<JoinedRuns> {
  using All = JoinedRuns;
  static constexpr auto table =
      state_fields("JoinedRuns", state_field("squares", &All::squares),
                   state_field("steps", &All::steps), state_field("exhausted", &All::exhausted),
                   state_field("diagonal", &All::diagonal), state_field("beside", &All::beside));
};

template <>
struct Fields<reml::ProbePoint> {
  using All = reml::ProbePoint;
  static constexpr auto table = state_fields(
      "ProbePoint", state_field("theta", &All::theta), state_field("solutions", &All::solutions),
      state_field("forms", &All::forms), state_field("known", &All::known),
      state_field("values", &All::values), state_field("information", &All::information));
};

template <>
struct Fields<reml::StochasticState> {
  using All = reml::StochasticState;
  static constexpr auto table = state_fields(
      "StochasticState", state_field("passes", &All::passes, &as_number_or_nan, &as_vector),
      state_field("orthogonal", &All::orthogonal), state_field("blocks", &All::blocks),
      state_field("iterations", &All::iterations, &as_iterations, &as_matrix),
      state_field<All, std::vector<reml::LanczosRun>, Rcpp::List>("runs", &All::runs, &as_runs,
                                                                  &as_list),
      state_field("response_vectors", &All::response_vectors),
      state_field("phase", &All::phase, &as_phase, &as_int), state_field("status", &All::status),
      state_field("message", &All::message), state_field("solved", &All::solved),
      state_field("sketch_weights", &All::sketch_weights),
      state_field("radius", &All::radius, &as_number_or_nan, &as_vector),
      state_field<All, reml::ProbePoint, Rcpp::List>("here", &All::here, &as_point, &as_list),
      state_field("first_probe", &All::first_probe), state_field("batch_theta", &All::batch_theta),
      state_field("batch_values", &All::batch_values),
      state_field("first_values", &All::first_values));
};

namespace {

Rcpp::List as_list(const std::vector<reml::LanczosRun>& runs) {
  JoinedRuns joined;
  for (const auto& run : runs) {
    joined.squares.push_back(run.square);
    joined.steps.push_back(run.steps());
    joined.exhausted.push_back(run.exhausted ? 1 : 0);
    joined.diagonal.insert(joined.diagonal.end(), run.diagonal.begin(), run.diagonal.end());
    joined.beside.insert(joined.beside.end(), run.beside.begin(), run.beside.end());
  }
  return to_list(joined);
}

std::vector<reml::LanczosRun> as_runs(Rcpp::List list) {
  const auto joined = from_list<JoinedRuns>(list);
  std::vector<reml::LanczosRun> runs;
  std::ptrdiff_t at = 0;
  for (std::size_t k = 0; k < joined.squares.size(); ++k) {
    const std::ptrdiff_t end = at + joined.steps[k];
    runs.push_back({joined.squares[k],
                    Vector(joined.diagonal.begin() + at, joined.diagonal.begin() + end),
                    Vector(joined.beside.begin() + at, joined.beside.begin() + end),
                    joined.exhausted[k] != 0});
    at = end;
  }
  return runs;
}

Rcpp::List as_list(const reml::ProbePoint& point) { return to_list(point); }

reml::ProbePoint as_point(Rcpp::List list) { return from_list<reml::ProbePoint>(list); }

}  // namespace

// Fits variance components without a relationship matrix. `state` is an earlier
// state to continue from, or NULL. The listener `checkpoint` receives each new state. Returns a
// list from as_list(), with used_variants, divisors and constant_variants.
// [[Rcpp::export]]
Rcpp::List reml_stochastic_impl(const Rcpp::List& problem, const Rcpp::RObject& state,
                                const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  const auto earlier = FromR<std::optional<reml::StochasticState>>::read(state);
  reml::Checkpoint going;
  if (earlier) going.from = &*earlier;
  const Rcpp::RObject listener = listener_of(watch, "checkpoint");
  if (!Rf_isNull(listener)) {
    going.save = [&](const reml::StochasticState& now) {
      kernels.mail().post([&listener, kept = std::make_shared<reml::StochasticState>(now)] {
        const Rcpp::Function tell(listener);
        tell(to_list(*kept));
      });
    };
  }
  reml::Fit fit;
  kernels.run(watch, [&](ancify::JobControl& control) {
    fit = reml::fit_stochastic(given.data, kernels.open(control), given.settings, going, control,
                               given.threads());
  });
  Rcpp::List result = as_list(fit, given.data.names);
  kernels.add_facts(result);
  return result;
}

// Haseman-Elston regression, with a jackknife over `blocks` blocks of samples. `moments` holds the
// moments of all blocks, from jackknife_moments_impl(), or is NULL. `corrected`: for pairs of
// blocks. Returns list(theta, covariance, mc_covariance, mean_diagonal, probes, passes).
// [[Rcpp::export]]
Rcpp::List haseman_elston_impl(const Rcpp::List& problem, int blocks,
                               const Rcpp::Nullable<Rcpp::NumericVector>& moments, bool corrected,
                               const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  reml::HasemanElstonSettings settings = as_moment_settings(given.settings, blocks);
  settings.corrected = corrected;
  const Vector of_blocks = moments.isNull() ? Vector() : Rcpp::as<Vector>(moments.get());
  ProblemKernels kernels(given);
  reml::HasemanElston found;
  kernels.run(watch, [&](ancify::JobControl& control) {
    found = reml::haseman_elston(given.data, kernels.open(control), settings, of_blocks, control,
                                 given.threads());
  });
  using Rcpp::Named;
  const int k = static_cast<int>(found.theta.size());
  return Rcpp::List::create(
      Named("theta") = found.theta,
      Named("covariance") = Rcpp::NumericMatrix(k, k, found.covariance.begin()),
      Named("mc_covariance") = Rcpp::NumericMatrix(k, k, found.mc_covariance.begin()),
      Named("mean_diagonal") = found.mean_diagonal, Named("probes") = found.probes,
      Named("passes") = found.passes);
}

// The index of the first block of each part of the jackknife.
// [[Rcpp::export]]
std::vector<int> jackknife_parts_impl(int blocks) {
  std::vector<int> first;
  for (int block = 0; block < blocks; block += reml::kBlocksAtOnce) first.push_back(block);
  return first;
}

// The moments of a part of the jackknife: list(moments, passes).
// [[Rcpp::export]]
Rcpp::List jackknife_moments_impl(const Rcpp::List& problem, int blocks, int first,
                                  const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const reml::HasemanElstonSettings settings = as_moment_settings(given.settings, blocks);
  ProblemKernels kernels(given);
  reml::JackknifePart part;
  kernels.run(watch, [&](ancify::JobControl& control) {
    part = reml::jackknife_moments(given.data, kernels.open(control), settings, first, control,
                                   given.threads());
  });
  return Rcpp::List::create(Rcpp::Named("moments") = part.moments,
                            Rcpp::Named("passes") = part.passes);
}
