// Connects tests of single variants and predictions with the core. rcpp_reml.h describes a
// `problem`. `genotypes`: the tested variants of the problem's samples, as for as_chosen().
#include <memory>
#include <vector>

#include "core/genotypes/standardise.h"
#include "core/reml/exact/exact_fit.h"
#include "core/reml/inference/prediction.h"
#include "core/reml/kernels/heterogeneous_residual.h"
#include "core/reml/scans/scan.h"
#include "rcpp_fields.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

// The first pass reads them.
ancify::GenotypeMatrix open_tested(const ChosenGenotypes& chosen, const ancify::GenotypeWork& work,
                                   ancify::JobControl& control) {
  return {chosen.open(control.inputs()), chosen.selection, work};
}

// P at theta, after an exact fit. The kernels' memory is freed before the tested genotypes are
// read.
std::vector<double> projection_of(const Problem& given, const std::vector<double>& theta,
                                  const Rcpp::Function& watch) {
  ProblemKernels kernels(given);
  std::vector<double> p;
  kernels.run(watch, [&](ancify::JobControl& control) {
    p = reml::projection_at(given.data, kernels.open(control), theta, {control, given.threads()});
  });
  return p;
}

// Variants from 0, and the variances.
struct SampledVariants {
  std::vector<double> variants;
  std::vector<double> theta;
  double seed;
};

}  // namespace

template <>
struct Fields<SampledVariants> {
  using All = SampledVariants;
  static constexpr auto table = fields("SampledVariants", field("variants", &All::variants),
                                       field("theta", &All::theta), field("seed", &All::seed));
};

// For each variant, z'v for a column v, and a summary of its genotypes. Returns list(response =,
// square = z'Sz off the fixed effects, or z'Pz at the variances `theta` unless they are NULL, n =
// samples with a call, frequency = NA without).
// [[Rcpp::export]]
Rcpp::List scan_forms_impl(const Rcpp::List& problem, const Rcpp::List& genotypes,
                           const std::vector<double>& v, const Rcpp::RObject& theta,
                           const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const ancify::GenotypeWork work = as_genotype_work(given.work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  std::vector<double> projection;
  if (!Rf_isNull(theta)) {
    projection = projection_of(given, Rcpp::as<std::vector<double>>(theta), watch);
  }
  reml::VariantQuadraticForms forms;
  std::vector<double> n;
  std::vector<double> frequency;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::GenotypeMatrix matrix = open_tested(chosen, work, control);
    const ancify::GenotypeProducts calls = reml::centred_calls(matrix);
    const reml::FixedEffects fixed(given.data, {control, work.threads});
    forms = reml::quadratic_forms_off_effects(calls, fixed, v, control);
    if (!projection.empty())
      forms.take_projection(calls.quadratic_forms(control, projection.data()));
    for (const ancify::VariantMoments& moments : matrix.moments()) {
      n.push_back(moments.observed);
      frequency.push_back(moments.observed > 0 ? moments.mean / 2 : NA_REAL);
    }
  });
  return Rcpp::List::create(Rcpp::Named("response") = forms.response,
                            Rcpp::Named("square") = forms.square, Rcpp::Named("n") = n,
                            Rcpp::Named("frequency") = frequency);
}

// The kernels of a problem's genotypes, K_g = Z_g W_g Z_g' / c_g. Returns list(kernels = n x n
// matrices, divisors = c_g).
// [[Rcpp::export]]
Rcpp::List dense_kernels_impl(const Rcpp::List& problem, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  const auto n = static_cast<int>(given.data.samples());
  const int components = given.n_genetic;
  Rcpp::List matrices(components);
  std::vector<double*> out;
  for (int g = 0; g < components; ++g) {
    auto matrix = make_matrix(n, n);
    out.push_back(matrix.begin());
    matrices[g] = matrix;
  }
  std::vector<double> divisors;
  run_job(watch, [&](ancify::JobControl& control) {
    reml::GenotypeKernels genetic = kernels.open_genetic(control);
    genetic.read();
    for (int g = 0; g < components; ++g) {
      genetic.dense(g, out[static_cast<std::size_t>(g)]);
      divisors.push_back(genetic.divisor(g));
    }
  });
  return Rcpp::List::create(Rcpp::Named("kernels") = matrices, Rcpp::Named("divisors") = divisors);
}

// z'Pz / z'Sz of some variants. `sampled` is for SampledVariants.
// [[Rcpp::export]]
std::vector<double> scan_ratios_impl(const Rcpp::List& problem, const Rcpp::List& genotypes,
                                     const Rcpp::List& sampled, const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  const ancify::GenotypeWork work = as_genotype_work(given.work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  const auto at = from_list<SampledVariants>(sampled);
  const std::vector<std::int64_t> variants(at.variants.begin(), at.variants.end());
  const auto stream = as_integer<std::uint64_t>(at.seed);
  const reml::HeterogeneousResidual residual(given.data.residuals());
  ProblemKernels kernels(given);
  std::vector<double> ratios;
  kernels.run(watch, [&](ancify::JobControl& control) {
    std::vector<double> columns;
    {
      const ancify::GenotypeMatrix matrix = open_tested(chosen, work, control);
      columns = reml::columns_of(reml::centred_calls(matrix), variants, control);
    }
    const reml::Workers workers = {control, work.threads};
    const reml::FixedEffects fixed(given.data, workers);
    // Columns of a model with scaled kernels are scaled, too.
    const std::vector<double>& scales = given.kernel_scales;
    for (std::size_t k = 0; k < columns.size() && !scales.empty(); ++k) {
      columns[k] *= scales[k % scales.size()];
    }
    reml::ResidualKernels all(&kernels.open(control), given.data);
    const reml::RestrictedModel model(given.data, all, fixed, workers);
    ratios = reml::projection_ratios(model, residual.with_identity(at.theta), std::move(columns),
                                     stream);
  });
  return ratios;
}

// sum_j effects_j (g_ij - means_j) of each sample of `genotypes`.
// [[Rcpp::export]]
std::vector<double> genetic_values_impl(const Rcpp::List& genotypes, const Rcpp::List& work,
                                        const std::vector<double>& means,
                                        const std::vector<double>& effects,
                                        const Rcpp::Function& watch) {
  const ancify::GenotypeWork by = as_genotype_work(as_work(work));
  const ChosenGenotypes chosen = as_chosen(genotypes);
  std::vector<double> values;
  run_job(watch, [&](ancify::JobControl& control) {
    values = reml::genetic_values(open_tested(chosen, by, control), means, effects, control);
  });
  return values;
}
