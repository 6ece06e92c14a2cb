// Connects stochastic REML with the core. rcpp_reml.h describes a `problem`.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/reml/stochastic/haseman_elston.h"
#include "core/reml/stochastic/stochastic_fit.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

using Vector = std::vector<double>;

reml::StochasticSettings as_settings(const Rcpp::List& problem) {
  const Rcpp::List control = problem["control"];
  reml::StochasticSettings settings;
  settings.search = as_search_settings(problem);
  const Rcpp::NumericVector probes = control["probes"];
  if (Rf_isMatrix(control["probes"])) {
    settings.matrix = Rcpp::as<Vector>(probes);
  } else {
    settings.probes = static_cast<int>(probes[0]);
  }
  settings.max_probes = Rcpp::as<int>(control["max_probes"]);
  settings.mc_tolerance = Rcpp::as<double>(control["mc_tolerance"]);
  if (!Rf_isNull(control["rank"])) settings.rank = Rcpp::as<int>(control["rank"]);
  settings.seed = as_integer<std::uint64_t>(Rcpp::as<double>(control["seed"]));
  settings.columns = reml::columns_for(Rf_xlength(problem["y"]));
  return settings;
}

reml::HasemanElstonSettings as_moment_settings(const Rcpp::List& problem, int blocks) {
  const reml::StochasticSettings stochastic = as_settings(problem);
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

std::vector<reml::Iteration> as_iterations(const Rcpp::NumericMatrix& matrix) {
  std::vector<reml::Iteration> iterations;
  for (int j = 0; j < matrix.ncol(); ++j) {
    const Rcpp::NumericVector column = matrix(Rcpp::_, j);
    iterations.push_back({column[0], column[1], static_cast<int>(column[2]), column[3],
                          Vector(column.begin() + 4, column.end())});
  }
  return iterations;
}

Rcpp::List as_list(const std::vector<reml::LanczosRun>& runs) {
  Vector squares;
  std::vector<int> steps;
  std::vector<int> exhausted;
  Vector diagonal;
  Vector beside;
  for (const auto& run : runs) {
    squares.push_back(run.square);
    steps.push_back(run.steps());
    exhausted.push_back(run.exhausted ? 1 : 0);
    diagonal.insert(diagonal.end(), run.diagonal.begin(), run.diagonal.end());
    beside.insert(beside.end(), run.beside.begin(), run.beside.end());
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("squares") = squares, Named("steps") = steps,
                            Named("exhausted") = exhausted, Named("diagonal") = diagonal,
                            Named("beside") = beside);
}

std::vector<reml::LanczosRun> as_runs(const Rcpp::List& list) {
  const auto squares = Rcpp::as<Vector>(list["squares"]);
  const auto steps = Rcpp::as<std::vector<int>>(list["steps"]);
  const auto exhausted = Rcpp::as<std::vector<int>>(list["exhausted"]);
  const auto diagonal = Rcpp::as<Vector>(list["diagonal"]);
  const auto beside = Rcpp::as<Vector>(list["beside"]);
  std::vector<reml::LanczosRun> runs;
  std::ptrdiff_t at = 0;
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const std::ptrdiff_t end = at + steps[k];
    runs.push_back({squares[k], Vector(diagonal.begin() + at, diagonal.begin() + end),
                    Vector(beside.begin() + at, beside.begin() + end), exhausted[k] != 0});
    at = end;
  }
  return runs;
}

Rcpp::List as_list(const reml::ProbePoint& point) {
  using Rcpp::Named;
  return Rcpp::List::create(Named("theta") = point.theta, Named("solutions") = point.solutions,
                            Named("forms") = point.forms, Named("known") = point.known,
                            Named("values") = point.values,
                            Named("information") = point.information);
}

reml::ProbePoint as_point(const Rcpp::List& list) {
  return {Rcpp::as<Vector>(list["theta"]),  Rcpp::as<Vector>(list["solutions"]),
          Rcpp::as<Vector>(list["forms"]),  Rcpp::as<Vector>(list["known"]),
          Rcpp::as<Vector>(list["values"]), Rcpp::as<Vector>(list["information"])};
}

Rcpp::List as_list(const reml::StochasticState& state) {
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("passes") = state.passes, Named("orthogonal") = state.orthogonal,
      Named("blocks") = state.blocks, Named("iterations") = as_matrix(state.iterations),
      Named("runs") = as_list(state.runs), Named("response_vectors") = state.response_vectors,
      Named("phase") = static_cast<int>(state.phase), Named("status") = state.status,
      Named("message") = state.message, Named("solved") = state.solved,
      Named("sketch_weights") = state.sketch_weights, Named("radius") = state.radius,
      Named("here") = as_list(state.here), Named("first_probe") = state.first_probe,
      Named("batch_theta") = state.batch_theta, Named("batch_values") = state.batch_values,
      Named("first_values") = state.first_values);
}

reml::StochasticState as_state(const Rcpp::List& list) {
  reml::StochasticState state;
  state.passes = Rcpp::as<double>(list["passes"]);
  state.orthogonal = Rcpp::as<bool>(list["orthogonal"]);
  state.blocks = Rcpp::as<std::vector<int>>(list["blocks"]);
  state.iterations = as_iterations(list["iterations"]);
  state.runs = as_runs(list["runs"]);
  state.response_vectors = Rcpp::as<Vector>(list["response_vectors"]);
  state.phase = static_cast<reml::StochasticState::Phase>(Rcpp::as<int>(list["phase"]));
  state.status = Rcpp::as<std::string>(list["status"]);
  state.message = Rcpp::as<std::string>(list["message"]);
  state.solved = Rcpp::as<bool>(list["solved"]);
  state.sketch_weights = Rcpp::as<Vector>(list["sketch_weights"]);
  state.radius = Rcpp::as<double>(list["radius"]);
  state.here = as_point(list["here"]);
  state.first_probe = Rcpp::as<int>(list["first_probe"]);
  state.batch_theta = Rcpp::as<Vector>(list["batch_theta"]);
  state.batch_values = Rcpp::as<Vector>(list["batch_values"]);
  state.first_values = Rcpp::as<Vector>(list["first_values"]);
  return state;
}

}  // namespace

// Fits variance components without a relationship matrix. `checkpoint` is NULL, or list(state =
// NULL or an earlier state to continue from). The listener `checkpoint` receives each new state.
// Returns a list from as_list(), with used_variants, divisors and constant_variants.
// [[Rcpp::export]]
Rcpp::List reml_stochastic_impl(const Rcpp::List& problem,
                                const Rcpp::Nullable<Rcpp::List>& checkpoint,
                                const Rcpp::Function& watch) {
  const reml::FitData data = as_fit_data(problem);
  const reml::StochasticSettings settings = as_settings(problem);
  const int threads = threads_of(problem["work"]);
  ProblemKernels kernels(problem);
  Mailbox mail;
  reml::StochasticState earlier;
  reml::Checkpoint going;
  if (checkpoint.isNotNull()) {
    const Rcpp::RObject state = Rcpp::List(checkpoint.get())["state"];
    if (!Rf_isNull(state)) {
      earlier = as_state(Rcpp::List(state));
      going.from = &earlier;
    }
  }
  const Rcpp::RObject listener = listener_of(watch, "checkpoint");
  if (!Rf_isNull(listener)) {
    going.save = [&](const reml::StochasticState& state) {
      mail.post([&listener, kept = std::make_shared<reml::StochasticState>(state)] {
        const Rcpp::Function tell(listener);
        tell(as_list(*kept));
      });
    };
  }
  reml::Fit fit;
  run_job(
      watch,
      [&](ancify::JobControl& control) {
        fit = reml::fit_stochastic(data, kernels.open(control, mail), settings, going, control,
                                   threads);
      },
      &mail);
  Rcpp::List result = as_list(fit, data.names);
  kernels.add_facts(result);
  return result;
}

// Haseman-Elston regression, with a jackknife over `blocks` blocks of samples. `moments` holds the
// moments of all blocks, from jackknife_moments_impl(), or is NULL. Returns list(theta, covariance,
// mc_covariance, mean_diagonal, probes, passes).
// [[Rcpp::export]]
Rcpp::List haseman_elston_impl(const Rcpp::List& problem, int blocks,
                               const Rcpp::Nullable<Rcpp::NumericVector>& moments,
                               const Rcpp::Function& watch) {
  const reml::FitData data = as_fit_data(problem);
  const reml::HasemanElstonSettings settings = as_moment_settings(problem, blocks);
  const int threads = threads_of(problem["work"]);
  const Vector of_blocks = moments.isNull() ? Vector() : Rcpp::as<Vector>(moments.get());
  ProblemKernels kernels(problem);
  Mailbox mail;
  reml::HasemanElston found;
  run_job(
      watch,
      [&](ancify::JobControl& control) {
        found = reml::haseman_elston(data, kernels.open(control, mail), settings, of_blocks,
                                     control, threads);
      },
      &mail);
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
  const reml::FitData data = as_fit_data(problem);
  const reml::HasemanElstonSettings settings = as_moment_settings(problem, blocks);
  const int threads = threads_of(problem["work"]);
  ProblemKernels kernels(problem);
  Mailbox mail;
  reml::JackknifePart part;
  run_job(
      watch,
      [&](ancify::JobControl& control) {
        part = reml::jackknife_moments(data, kernels.open(control, mail), settings, first, control,
                                       threads);
      },
      &mail);
  return Rcpp::List::create(Rcpp::Named("moments") = part.moments,
                            Rcpp::Named("passes") = part.passes);
}
