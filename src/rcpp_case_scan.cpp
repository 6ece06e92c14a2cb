// Connects logistic null models and score tests of cases and controls with the core. rcpp_reml.h
// describes a `problem`; its data and kernels are weighted by W^1/2.
#include <string>
#include <vector>

#include "core/reml/exact/exact_fit.h"
#include "core/reml/scans/case_scan.h"
#include "core/reml/scans/scan.h"
#include "core/reml/stochastic/probe_point.h"
#include "rcpp_fields.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

reml::Firth as_firth(const std::string& firth) {
  return choice<reml::Firth>(firth, {{"none", reml::Firth::kNone},
                                     {"given null", reml::Firth::kGivenNull},
                                     {"whole", reml::Firth::kWhole}});
}

}  // namespace

template <>
struct Fields<reml::CaseModel> {
  using All = reml::CaseModel;
  static constexpr auto table =
      fields("CaseModel", field("means", &All::means), field("residuals", &All::residuals),
             field("roots", &All::roots), field("firth", &All::firth, as_firth),
             field("variances", &All::variances), field("ratio", &All::ratio),
             field("least_z", &All::least_z));
};

// Score, average information and P y of a problem at theta: list(score, information,
// residual_projection). `exact`: on the exact path.
// [[Rcpp::export]]
Rcpp::List reml_point_impl(const Rcpp::List& problem, const std::vector<double>& theta, bool exact,
                           const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  reml::LikelihoodPoint point;
  kernels.run(watch, [&](ancify::JobControl& control) {
    const reml::Workers workers = {control, given.threads()};
    point = exact ? reml::exact_point(given.data, kernels.open(control), theta, workers)
                  : reml::stochastic_point(given.data, kernels.open(control), given.settings, theta,
                                           workers);
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("score") = point.score,
                            Named("information") = as_matrix(point.information, theta.size()),
                            Named("residual_projection") = point.residual_projection);
}

// z'P z of each variant of `genotypes`, with P of the unweighted data, after an exact fit.
// [[Rcpp::export]]
std::vector<double> case_squares_impl(const Rcpp::List& problem, const Rcpp::List& genotypes,
                                      const std::vector<double>& theta,
                                      const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  std::vector<double> p;
  {
    ProblemKernels kernels(given);
    kernels.run(watch, [&](ancify::JobControl& control) {
      p = reml::projection_at(given.data, kernels.open(control), theta, {control, given.threads()});
    });
  }
  const std::vector<double>& roots = given.kernel_scales;
  const std::size_t n = roots.size();
  for (std::size_t k = 0; k < p.size(); ++k) p[k] *= roots[k % n] * roots[k / n];
  std::vector<double> squares;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::GenotypeMatrix matrix(chosen.open(control.inputs()), chosen.selection,
                                        as_genotype_work(given.work));
    squares = reml::centred_calls(matrix).quadratic_forms(control, p.data());
  });
  return squares;
}

// Score tests under a null model, for CaseModel. Returns list(score =, square = g'W g, root =,
// opposite_root =, firth_effect =, firth_error =, n = samples with a call, frequency = NA without).
// [[Rcpp::export]]
Rcpp::List case_tests_impl(const Rcpp::List& problem, const Rcpp::List& genotypes,
                           const Rcpp::List& model, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  const auto null_model = from_list<reml::CaseModel>(model);
  ancify::GenotypeWork work = as_genotype_work(given.work);
  work.devices = nullptr;  // devices do not return single columns
  reml::CaseTests tests;
  std::vector<double> n;
  std::vector<double> frequency;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::GenotypeMatrix matrix(chosen.open(control.inputs()), chosen.selection, work);
    const reml::FixedEffects fixed(given.data, {control, work.threads});
    tests = reml::test_cases(reml::centred_calls(matrix), fixed, null_model, control);
    for (const ancify::VariantMoments& moments : matrix.moments()) {
      n.push_back(moments.observed);
      frequency.push_back(moments.observed > 0 ? moments.mean / 2 : NA_REAL);
    }
  });
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("score") = tests.score, Named("square") = tests.square, Named("root") = tests.root,
      Named("opposite_root") = tests.opposite_root, Named("firth_effect") = tests.firth_effect,
      Named("firth_error") = tests.firth_error, Named("n") = n, Named("frequency") = frequency);
}
