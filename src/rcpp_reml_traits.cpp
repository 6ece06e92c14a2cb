// Connects REML of several traits with the core. rcpp_reml.h describes a `problem`, whose y is not
// used.
#include <string>
#include <vector>

#include "core/reml/multivariate/multivariate_fit.h"
#include "core/reml/trait_probes/trait_probe_fit.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

reml::TraitData as_trait_data(const Problem& problem, const Rcpp::NumericMatrix& traits) {
  reml::TraitData data;
  data.samples = static_cast<std::size_t>(traits.nrow());
  data.y.assign(traits.begin(), traits.end());
  data.x = problem.data.x;
  data.names = problem.data.names;
  return data;
}

// Counts from 0.
struct Constraint {
  std::string kind;
  int component = 0;
  int row = 0;
  int column = 0;
};

}  // namespace

template <>
struct Fields<Constraint> {
  static constexpr auto table =
      fields("TraitConstraint", field("kind", &Constraint::kind),
             field("component", &Constraint::component), field("row", &Constraint::row),
             field("column", &Constraint::column));
};

namespace {

reml::TraitConstraint as_constraint(const Rcpp::List& list) {
  using Kind = reml::TraitConstraint::Kind;
  const auto given = from_list<Constraint>(list);
  return {choice<Kind>(given.kind, {{"uncorrelated", Kind::kUncorrelated},
                                    {"proportional", Kind::kProportional}}),
          static_cast<std::size_t>(given.component),
          {static_cast<std::size_t>(given.row), static_cast<std::size_t>(given.column)}};
}

}  // namespace

// Fits the columns of `traits`, NaN for missing values, by the exact or the stochastic path.
// Matrices by parameter are packed as theta.
// [[Rcpp::export]]
Rcpp::List reml_traits_impl(const Rcpp::List& problem, const Rcpp::NumericMatrix& traits,
                            bool exact, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const reml::TraitData data = as_trait_data(given, traits);
  ProblemKernels kernels(given);
  reml::TraitFit fit;
  kernels.run(watch, [&](ancify::JobControl& control) {
    const reml::Workers workers = {control, given.threads()};
    fit = exact ? reml::fit_traits(data, kernels.open(control), given.settings.search, workers)
                : reml::fit_traits_by_probes(data, kernels.open(control), given.settings, workers);
  });
  using Rcpp::Named;
  const std::size_t k = fit.theta.size();
  Rcpp::List result = Rcpp::List::create(
      Named("theta") = fit.theta, Named("score") = fit.score,
      Named("average") = as_matrix(fit.average, k), Named("expected") = as_matrix(fit.expected, k),
      Named("log_likelihood") = fit.log_likelihood,
      Named("mc_log_likelihood") = fit.mc_log_likelihood,
      Named("mc_score") = as_matrix(fit.mc_score, k), Named("probes") = fit.probes,
      Named("mean_diagonal") = fit.mean_diagonal, Named("converged") = fit.converged,
      Named("status") = fit.status, Named("message") = fit.message,
      Named("iterations") = iterations_table(fit.iterations, {}), Named("passes") = fit.passes,
      Named("coefficients") = as_matrix(fit.coefficients, data.effects()),
      Named("coefficients_covariance") =
          as_matrix(fit.coefficients_covariance, fit.coefficients.size()),
      Named("residual_projection") = as_matrix(fit.residual_projection, data.samples),
      Named("genetic") = fit.genetic);
  kernels.add_facts(result);
  return result;
}

// The largest log-likelihood under each of `constraints`, a list of list(kind =, component =, row
// =, column =) that count from 0; NaN where a search has not converged.
// [[Rcpp::export]]
std::vector<double> reml_traits_constrained_impl(const Rcpp::List& problem,
                                                 const Rcpp::NumericMatrix& traits,
                                                 const std::vector<double>& theta,
                                                 const Rcpp::List& constraints,
                                                 const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const reml::TraitData data = as_trait_data(given, traits);
  std::vector<reml::TraitConstraint> all;
  for (const auto& row : constraints) all.push_back(as_constraint(row));
  ProblemKernels kernels(given);
  std::vector<double> found;
  kernels.run(watch, [&](ancify::JobControl& control) {
    found = reml::constrained_log_likelihoods(data, kernels.open(control), theta, all,
                                              given.settings.search, {control, given.threads()});
  });
  return found;
}
