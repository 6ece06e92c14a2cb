// Connects exact REML with the core. rcpp_reml.h describes a `problem`.
#include <string>
#include <vector>

#include "core/reml/exact/exact_fit.h"
#include "core/reml/inference/null_lrt.h"
#include "core/reml/linear_algebra/lapack.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

// Workspace for dense kernels that persist between jobs.
// [[Rcpp::export]]
SEXP new_kept_kernels_impl() { return Rcpp::XPtr<reml::KeptKernels>(new reml::KeptKernels()); }

// [[Rcpp::export]]
void clear_kept_kernels_impl(const SEXP kept) { Rcpp::XPtr<reml::KeptKernels>(kept)->clear(); }

// Fits variance components. Returns a list from as_list(), with used_variants, divisors and
// constant_variants.
// [[Rcpp::export]]
Rcpp::List reml_exact_impl(const Rcpp::List& problem, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  reml::Fit fit;
  kernels.run(watch, [&](ancify::JobControl& control) {
    fit = reml::fit_exact(given.data, kernels.open(control), given.settings.search,
                          {control, given.threads()});
  });
  Rcpp::List result = as_list(fit, given.data.names);
  kernels.add_facts(result);
  return result;
}

// The restricted likelihood at each column of `thetas`. Returns a list for each:
// list(log_likelihood =, score =, information =, traces =, quadratic = y'Py).
// [[Rcpp::export]]
Rcpp::List reml_likelihood_impl(const Rcpp::List& problem, const Rcpp::NumericMatrix& thetas,
                                const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const bool expected = given.settings.search.expected;
  std::vector<std::vector<double>> points;
  for (int j = 0; j < thetas.ncol(); ++j) {
    const Rcpp::NumericVector column = thetas(Rcpp::_, j);
    points.emplace_back(column.begin(), column.end());
  }
  ProblemKernels kernels(given);
  std::vector<reml::LikelihoodAt> found;
  kernels.run(watch, [&](ancify::JobControl& control) {
    found = reml::likelihoods_at(given.data, kernels.open(control), points, expected,
                                 {control, given.threads()});
  });
  using Rcpp::Named;
  Rcpp::List result(static_cast<R_xlen_t>(found.size()));
  for (std::size_t j = 0; j < found.size(); ++j) {
    const reml::LikelihoodAt& at = found[j];
    const auto k = static_cast<int>(at.derivatives.score.size());
    const auto& values = expected ? at.derivatives.expected : at.derivatives.average;
    result[static_cast<R_xlen_t>(j)] = Rcpp::List::create(
        Named("log_likelihood") = at.log_likelihood, Named("score") = at.derivatives.score,
        Named("information") = Rcpp::NumericMatrix(k, k, values.begin()),
        Named("traces") = at.derivatives.traces, Named("quadratic") = at.quadratic);
  }
  return result;
}

// Draws of the likelihood-ratio statistic of a kernel without variance. `form` is for
// KernelForm.
// [[Rcpp::export]]
std::vector<double> reml_null_lrt_impl(const Rcpp::List& form, double draws, double seed,
                                       const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto kernel = from_list<KernelForm>(form);
  const auto n = as_integer<std::int64_t>(draws);
  const auto stream = as_integer<std::uint64_t>(seed);
  std::vector<double> values;
  run_job(watch, [&](ancify::JobControl& control) {
    values =
        reml::draw_null_lrt(reml::tridiagonal_eigenvalues(kernel.diagonal, kernel.off_diagonal), n,
                            stream, threads, control);
  });
  return values;
}

// K V for a component of a problem, from 0. `v` has a row for each sample.
// [[Rcpp::export]]
Rcpp::NumericMatrix kernel_times_impl(const Rcpp::List& problem, const Rcpp::NumericMatrix& v,
                                      int component, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  auto product = make_matrix(v.nrow(), v.ncol());
  double* const out = product.begin();
  const double* const values = v.begin();
  const int columns = v.ncol();
  kernels.run(watch, [&](ancify::JobControl& control) {
    reml::Kernels& of = kernels.open(control, ProblemKernels::Reading::kByProducts);
    std::vector<double> theta(static_cast<std::size_t>(of.components()), 0);
    theta[static_cast<std::size_t>(component)] = 1;
    of.times(theta.data(), values, columns, reml::Precision::kFull, out);
  });
  return product;
}
