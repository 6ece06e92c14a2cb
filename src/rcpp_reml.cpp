// Converts the problems and results of REML.
#include "rcpp_reml.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/genotypes/device_products.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/record_kernels.h"

namespace reml = ancify::reml;

namespace {

struct WeightColumns {
  Rcpp::NumericVector variant;
  Rcpp::IntegerVector component;
  Rcpp::NumericVector weight;
};

}  // namespace

Rcpp::List iterations_table(const std::vector<reml::Iteration>& iterations,
                            const std::vector<std::string>& names) {
  const auto rows = static_cast<R_xlen_t>(iterations.size());
  const std::size_t components = iterations.empty() ? 0 : iterations.front().theta.size();
  std::vector<std::string> columns = {"iteration", "log_likelihood", "decrement", "probes", "step"};
  std::vector<Rcpp::NumericVector> values(columns.size() + components, Rcpp::NumericVector(0));
  for (auto& column : values) column = Rcpp::NumericVector(rows);
  for (R_xlen_t i = 0; i < rows; ++i) {
    const auto& at = iterations[static_cast<std::size_t>(i)];
    std::size_t column = 0;
    const double log_likelihood = std::isnan(at.log_likelihood) ? NA_REAL : at.log_likelihood;
    for (const double value : {static_cast<double>(i), log_likelihood, at.decrement,
                               static_cast<double>(at.probes), at.step}) {
      values[column++][i] = value;
    }
    for (const double value : at.theta) values[column++][i] = value;
  }
  for (std::size_t g = 0; g < components; ++g) {
    const std::string other = g + 1 < components ? "component" + std::to_string(g + 1) : "residual";
    columns.push_back(g < names.size() ? names[g] : other);
  }
  Rcpp::List table(static_cast<R_xlen_t>(values.size()));
  for (std::size_t j = 0; j < values.size(); ++j) table[static_cast<R_xlen_t>(j)] = values[j];
  table.names() = Rcpp::CharacterVector(columns.begin(), columns.end());
  table.attr("row.names") = Rcpp::IntegerVector::create(NA_INTEGER, -static_cast<int>(rows));
  table.attr("class") = "data.frame";
  return table;
}

Rcpp::NumericMatrix as_matrix(const std::vector<double>& values, std::size_t rows) {
  const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
  auto matrix = make_matrix(static_cast<int>(rows), static_cast<int>(columns));
  std::copy(values.begin(), values.end(), matrix.begin());
  return matrix;
}

template <>
struct Fields<WeightColumns> {
  using All = WeightColumns;
  static constexpr auto table =
      fields("ComponentWeights", field("variant", &All::variant),
             field("component", &All::component), field("weight", &All::weight));
};

namespace {

std::vector<reml::ComponentWeight> as_weights(const Rcpp::List& weights) {
  const auto [variant, component, weight] = from_list<WeightColumns>(weights);
  std::vector<reml::ComponentWeight> result;
  for (R_xlen_t i = 0; i < variant.size(); ++i) {
    result.push_back({as_integer<std::int64_t>(variant[i]), component[i], weight[i]});
  }
  return result;
}

bool as_expected(const std::string& information) {
  return choice<bool>(information, {{"average", false}, {"expected", true}});
}

}  // namespace

template <>
struct Fields<reml::StochasticSettings> {
  using All = reml::StochasticSettings;
  using Search = reml::SearchSettings;
  static constexpr auto table = fields(
      "RemlControl", field_or_default("start", within(&All::search, &Search::start)),
      field("lower", within(&All::search, &Search::lower)),
      field("information", within(&All::search, &Search::expected), as_expected),
      field("tolerance", within(&All::search, &Search::tolerance)),
      field("max_iterations", within(&All::search, &Search::max_iterations)),
      field_or_default("probes", &All::probes), field_or_default("given_probes", &All::matrix),
      field("max_probes", &All::max_probes), field("mc_tolerance", &All::mc_tolerance),
      field_or_default("rank", &All::rank), field("seed", &All::seed));
};

template <>
struct Fields<reml::KernelKeeper> {
  using All = reml::KernelKeeper;
  static constexpr auto table =
      fields("KernelKeeper", field("kernels", &All::kernels), field("bytes", &All::most_bytes));
};

namespace {

reml::ScaledDiagonal as_scaled_diagonal(bool even) {
  return even ? reml::ScaledDiagonal::kEven : reml::ScaledDiagonal::kOwn;
}

}  // namespace

template <>
struct Fields<Problem> {
  using All = Problem;
  using Data = reml::FitData;
  static constexpr auto table =
      fields("RemlProblem", field("y", within(&All::data, &Data::y)),
             field_or_default("x", within(&All::data, &Data::x)),
             field_or_default("names", within(&All::data, &Data::names)),
             field_or_default("residual_shares", within(&All::data, &Data::residual_shares)),
             field_or_default("genotypes", &All::genotypes, as_chosen),
             field_or_default("weights", &All::weights, as_weights),
             field_or_default("n_genetic", &All::n_genetic),
             field_or_default("individuals", &All::individuals),
             field_or_default("scale_power", &All::scale_power),
             field_or_default("kernel_scales", &All::kernel_scales),
             field_or_default("even_diagonal", &All::scaled_diagonal, as_scaled_diagonal),
             field("kernels", &All::kernels), field_or_default("control", &All::settings),
             field("work", &All::work, as_work), field_or_default("kept", &All::keeper));
};

Problem as_problem(const Rcpp::List& problem) {
  auto given = from_list<Problem>(problem);
  given.settings.columns = reml::columns_for(given.data.samples());
  return given;
}

ancify::GenotypeWork as_genotype_work(const ancify::Work& work) {
  ancify::GenotypeWork result;
  result.threads = work.backend.threads;
  result.simd = work.backend.simd;
  result.memory = work.memory;
  guarded([&] { result.devices = ancify::open_product_devices(work.backend); });
  return result;
}

ProblemKernels::ProblemKernels(const Problem& problem)
    : problem_(problem), work_(as_genotype_work(problem.work)) {
  for (const auto& kernel : problem.kernels) {
    others_.push_back(as_other_kernel(kernel, problem.data.samples()));
  }
  share_memory();
}

// Genotypes share the memory in proportion to their numbers of variants.
void ProblemKernels::share_memory() {
  const auto& chosen = problem_.genotypes;
  const auto own = chosen ? static_cast<std::int64_t>(chosen->selection.variants.size()) : 0;
  std::int64_t all = own;
  for (const auto& other : others_) all += other->variants();
  const auto part = [&, memory = work_.memory](std::int64_t variants) {
    ancify::GenotypeWork work = work_;
    if (variants < all) {
      // At least 1, because 0 would mean as much memory as needed.
      const double share = static_cast<double>(variants) / static_cast<double>(all);
      work.memory =
          std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(memory) * share), 1);
    }
    return work;
  };
  for (auto& other : others_) other->take(part(other->variants()));
  work_ = part(own);
}

reml::GenotypeKernels ProblemKernels::open_genetic(ancify::JobControl& control) {
  const ChosenGenotypes& chosen = *problem_.genotypes;
  genotypes_ = std::make_unique<ancify::GenotypeMatrix>(chosen.open(control.inputs()),
                                                        chosen.selection, work_);
  reml::GenotypeKernels kernels(*genotypes_, problem_.weights, problem_.n_genetic,
                                problem_.scale_power, control, problem_.data.names);
  if (problem_.keeper.kernels != nullptr) {
    kernels.keep_in(problem_.keeper, {chosen.selection, problem_.weights, problem_.scale_power});
  }
  return kernels;
}

reml::Kernels& ProblemKernels::open(ancify::JobControl& control, Reading reading) {
  std::vector<std::unique_ptr<reml::Kernels>> parts;
  facts_ = {};
  if (problem_.genotypes) {
    auto part = std::make_unique<reml::GenotypeKernels>(open_genetic(control));
    // The diagonal of records needs genotypes.
    const bool is_read = reading == Reading::kNow || !problem_.individuals.empty();
    if (is_read) {
      part->read();
      constant_variants_ = static_cast<double>(part->constant_variants());
    }
    for (int g = 0; g < part->components(); ++g) {
      facts_.add(is_read ? static_cast<double>(part->used_variants(g)) : NA_REAL, NA_REAL);
    }
    if (problem_.individuals.empty()) {
      parts.push_back(std::move(part));
    } else {
      parts.push_back(std::make_unique<reml::RecordKernels>(std::move(part), problem_.individuals));
    }
  }
  for (const auto& other : others_) {
    parts.push_back(other->open(problem_.data.names, control, mail_, facts_));
  }
  kernels_ = reml::join_kernels(std::move(parts));
  if (!problem_.kernel_scales.empty()) {
    kernels_ = std::make_unique<reml::ScaledKernels>(std::move(kernels_), problem_.kernel_scales,
                                                     problem_.scaled_diagonal);
  }
  return *kernels_;
}

void ProblemKernels::add_facts(Rcpp::List& result) const {
  result["used_variants"] = facts_.used_variants;
  result["divisors"] = facts_.divisors;
  result["constant_variants"] = constant_variants_;
}

Rcpp::List as_list(const reml::Fit& fit, const std::vector<std::string>& names) {
  using Rcpp::Named;
  const std::size_t k = fit.theta.size();
  Rcpp::List result = Rcpp::List::create(
      Named("theta") = fit.theta, Named("score") = fit.score,
      Named("information") = as_matrix(fit.information, k),
      Named("log_likelihood") = fit.log_likelihood,
      Named("log_likelihood_null") = fit.log_likelihood_null,
      Named("mc_log_likelihood") = fit.mc_log_likelihood,
      Named("mc_score") = as_matrix(fit.mc_score, k), Named("mean_diagonal") = fit.mean_diagonal,
      Named("at_bound") = Rcpp::LogicalVector(fit.at_bound.begin(), fit.at_bound.end()),
      Named("converged") = fit.converged, Named("status") = fit.status,
      Named("message") = fit.message, Named("iterations") = iterations_table(fit.iterations, names),
      Named("passes") = fit.passes, Named("probes") = fit.probes,
      Named("coefficients") = fit.coefficients,
      Named("coefficients_covariance") =
          as_matrix(fit.coefficients_covariance, fit.coefficients.size()),
      Named("residual_projection") = fit.residual_projection,
      Named("genetic") = as_matrix(fit.genetic, fit.residual_projection.size()));
  if (!fit.kernel_diagonal.empty()) {
    result["kernel_form"] = to_list(KernelForm{fit.kernel_diagonal, fit.kernel_off_diagonal});
  }
  result["method"] = fit.method;
  return result;
}
