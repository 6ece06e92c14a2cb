// Connects sparse effects of variants with the core. rcpp_reml.h describes a `problem`.
#include <memory>
#include <utility>
#include <vector>

#include "core/reml/exact/exact_fit.h"
#include "core/reml/inference/projection.h"
#include "core/reml/scans/sparse_effects.h"
#include "rcpp_reml.h"

namespace reml = ancify::reml;

namespace {

using Vector = std::vector<double>;

std::unique_ptr<ancify::GenotypeMatrix> open_variants(const ChosenGenotypes& chosen,
                                                      ancify::GenotypeSelection selection,
                                                      const ancify::GenotypeWork& work,
                                                      ancify::JobControl& control) {
  return std::make_unique<ancify::GenotypeMatrix>(chosen.open(control.inputs()),
                                                  std::move(selection), work, control);
}

struct PathSettings {
  reml::SparseSettings sparse;
  std::int64_t memory;  // bytes for tested genotypes
  bool exact;
  std::uint64_t seed;
};

// The parts of a problem that the path uses besides P.
struct PathProblem {
  reml::SparsePath find(const reml::Projection& projection, ancify::JobControl& control) const {
    const auto matrix = open_variants(chosen, chosen.selection, work, control);
    const reml::OpenVariants open = [&](const std::vector<std::int64_t>& variants) {
      ancify::GenotypeSelection some = {chosen.selection.samples, {}};
      for (const std::int64_t j : variants) {
        some.variants.push_back(chosen.selection.variants[static_cast<std::size_t>(j)]);
      }
      return open_variants(chosen, std::move(some), work, control);
    };
    const reml::FixedEffects fixed(data, {control, work.threads});
    return reml::sparse_path(*matrix, open, projection, fixed, sparse, control);
  }

  const reml::FitData& data;
  ancify::GenotypeWork work;
  ChosenGenotypes chosen;
  reml::SparseSettings sparse;
};

}  // namespace

template <>
struct Fields<PathSettings> {
  using All = PathSettings;
  using Sparse = reml::SparseSettings;
  static constexpr auto table =
      fields("SparsePathSettings", field("scale_power", within(&All::sparse, &Sparse::scale_power)),
             field("lambda", within(&All::sparse, &Sparse::lambda)),
             field("candidates", within(&All::sparse, &Sparse::candidates)),
             field("most", within(&All::sparse, &Sparse::most)), field("memory", &All::memory),
             field("exact", &All::exact), field("seed", &All::seed));
};

// The path of sparse effects at the variances `theta`. `genotypes`: the tested variants, as for
// as_chosen(). `settings` is for PathSettings. Returns list(lambda =, tested =, variants =
// (candidates, from 0), effects =, rss =, violation =, residuals =, needed =), as in SparsePath.
// [[Rcpp::export]]
Rcpp::List sparse_path_impl(const Rcpp::List& problem, const Rcpp::List& genotypes,
                            const std::vector<double>& theta, const Rcpp::List& settings,
                            const Rcpp::Function& watch) {
  const Problem whole = as_problem(problem);
  const auto wanted = from_list<PathSettings>(settings);
  PathProblem given = {whole.data, as_genotype_work(whole.work), as_chosen(genotypes),
                       wanted.sparse};
  given.work.memory = wanted.memory;
  auto kernels = std::make_unique<ProblemKernels>(whole);
  Vector p;
  reml::SparsePath path;
  kernels->run(watch, [&](ancify::JobControl& control) {
    reml::Kernels& opened = kernels->open(control);
    if (wanted.exact) {
      p = reml::projection_at(given.data, opened, theta, {control, given.work.threads});
      return;
    }
    const reml::FixedEffects fixed(given.data, {control, given.work.threads});
    const reml::RestrictedModel model(given.data, opened, fixed, {control, given.work.threads});
    path = given.find(reml::SolvedProjection(model, theta, wanted.seed), control);
  });
  if (wanted.exact) {
    kernels.reset();  // frees memory for the tested genotypes
    run_job(watch, [&](ancify::JobControl& control) {
      path =
          given.find(reml::DenseProjection(std::move(p), {control, given.work.threads}), control);
    });
  }
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("lambda") = path.lambda, Named("tested") = static_cast<double>(path.tested),
      Named("variants") = Rcpp::NumericVector(path.variants.begin(), path.variants.end()),
      Named("effects") = as_matrix(path.effects, path.variants.size()), Named("rss") = path.rss,
      Named("violation") = path.violation,
      Named("residuals") = as_matrix(path.residuals, given.data.y.size()),
      Named("needed") = static_cast<double>(path.needed));
}

// K_g v of each component, n x G.
// [[Rcpp::export]]
Rcpp::NumericMatrix component_products_impl(const Rcpp::List& problem, const std::vector<double>& v,
                                            const Rcpp::Function& watch) {
  const Problem given = as_problem(problem);
  ProblemKernels kernels(given);
  Vector products;
  kernels.run(watch, [&](ancify::JobControl& control) {
    reml::Kernels& opened = kernels.open(control, ProblemKernels::Reading::kByProducts);
    const auto components = static_cast<std::size_t>(opened.components());
    products.resize(v.size() * components);
    for (std::size_t g = 0; g < components; ++g) {
      Vector unit(components);
      unit[g] = 1;
      opened.times(unit.data(), v.data(), 1, reml::Precision::kFull, &products[g * v.size()]);
    }
  });
  return as_matrix(products, v.size());
}
