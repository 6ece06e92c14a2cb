// Converts the problems and results of REML.
#include "rcpp_reml.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/genotypes/device_products.h"
#include "core/reml/kernels/matrix_kernels.h"

namespace reml = ancify::reml;

namespace {

std::vector<double> as_doubles(const Rcpp::RObject& value) {
  return Rf_isNull(value) ? std::vector<double>() : Rcpp::as<std::vector<double>>(value);
}

Rcpp::List as_data_frame(const std::vector<reml::Iteration>& iterations,
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

}  // namespace

Rcpp::NumericMatrix as_matrix(const std::vector<double>& values, std::size_t rows) {
  const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
  auto matrix = make_matrix(static_cast<int>(rows), static_cast<int>(columns));
  std::copy(values.begin(), values.end(), matrix.begin());
  return matrix;
}

reml::FitData as_fit_data(const Rcpp::List& problem) {
  reml::FitData data;
  data.y = as_doubles(problem["y"]);
  data.x = as_doubles(problem["x"]);
  if (problem.containsElementNamed("residual_shares")) {
    data.residual_shares = as_doubles(problem["residual_shares"]);
  }
  if (problem.containsElementNamed("names")) {
    data.names = Rcpp::as<std::vector<std::string>>(problem["names"]);
  }
  return data;
}

reml::SearchSettings as_search_settings(const Rcpp::List& problem) {
  const Rcpp::List control = problem["control"];
  reml::SearchSettings settings;
  settings.start = as_doubles(control["start"]);
  settings.lower = as_doubles(control["lower"]);
  settings.expected = Rcpp::as<std::string>(control["information"]) == "expected";
  settings.tolerance = Rcpp::as<double>(control["tolerance"]);
  settings.max_iterations = Rcpp::as<int>(control["max_iterations"]);
  return settings;
}

ancify::GenotypeWork as_genotype_work(const Rcpp::List& work) {
  const ancify::Work given = as_work(work);
  ancify::GenotypeWork result;
  result.threads = given.backend.threads;
  result.simd = given.backend.simd;
  result.memory = given.memory;
  guarded([&] { result.devices = ancify::open_product_devices(given.backend); });
  return result;
}

ProblemKernels::ProblemKernels(const Rcpp::List& problem) {
  if (problem.containsElementNamed("names")) {
    names_ = Rcpp::as<std::vector<std::string>>(problem["names"]);
  }
  const Rcpp::RObject genotypes = problem["genotypes"];
  if (!Rf_isNull(genotypes)) {
    chosen_ = std::make_unique<ChosenGenotypes>(as_chosen(Rcpp::List(genotypes)));
    const Rcpp::List weights = problem["weights"];
    const Rcpp::NumericVector variant = weights["variant"];
    const Rcpp::IntegerVector component = weights["component"];
    const Rcpp::NumericVector weight = weights["weight"];
    for (R_xlen_t i = 0; i < variant.size(); ++i) {
      weights_.push_back({as_integer<std::int64_t>(variant[i]), component[i], weight[i]});
    }
    n_genetic_ = Rcpp::as<int>(problem["n_genetic"]);
    scale_power_ = Rcpp::as<double>(problem["scale_power"]);
  }
  const std::int64_t samples = chosen_ != nullptr
                                   ? static_cast<std::int64_t>(chosen_->selection.samples.size())
                                   : Rf_xlength(problem["y"]);
  const Rcpp::List kernels = problem["kernels"];
  for (R_xlen_t i = 0; i < kernels.size(); ++i) {
    others_.push_back(as_other_kernel(kernels[i], samples));
  }
  work_ = as_genotype_work(problem["work"]);
  if (problem.containsElementNamed("kept")) {
    const Rcpp::List kept = problem["kept"];
    keeper_ = {Rcpp::XPtr<reml::KeptKernels>(kept["kernels"]).get(),
               as_integer<std::int64_t>(Rcpp::as<double>(kept["bytes"]))};
  }
  share_memory();
}

// Genotypes share the memory in proportion to their numbers of variants.
void ProblemKernels::share_memory() {
  const auto own =
      chosen_ != nullptr ? static_cast<std::int64_t>(chosen_->selection.variants.size()) : 0;
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
  genotypes_ = std::make_unique<ancify::GenotypeMatrix>(chosen_->open(control.inputs()),
                                                        chosen_->selection, work_, control);
  reml::GenotypeKernels kernels(*genotypes_, weights_, n_genetic_, scale_power_, control, names_);
  if (keeper_.kernels != nullptr) {
    kernels.keep_in(keeper_, {chosen_->selection, weights_, scale_power_});
  }
  return kernels;
}

reml::Kernels& ProblemKernels::open(ancify::JobControl& control, Mailbox& mail) {
  std::vector<std::unique_ptr<reml::Kernels>> parts;
  facts_ = {};
  if (chosen_ != nullptr) {
    auto part = std::make_unique<reml::GenotypeKernels>(open_genetic(control));
    for (int g = 0; g < n_genetic_; ++g) {
      facts_.add(static_cast<double>(part->used_variants(g)), NA_REAL);
    }
    constant_variants_ = static_cast<double>(part->constant_variants());
    parts.push_back(std::move(part));
  }
  for (const auto& other : others_) parts.push_back(other->open(names_, control, mail, facts_));
  kernels_ = reml::join_kernels(std::move(parts));
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
      Named("message") = fit.message, Named("iterations") = as_data_frame(fit.iterations, names),
      Named("passes") = fit.passes, Named("probes") = fit.probes,
      Named("coefficients") = fit.coefficients,
      Named("coefficients_covariance") =
          as_matrix(fit.coefficients_covariance, fit.coefficients.size()),
      Named("residual_projection") = fit.residual_projection,
      Named("genetic") = as_matrix(fit.genetic, fit.residual_projection.size()));
  if (!fit.kernel_diagonal.empty()) {
    result["kernel_form"] = Rcpp::List::create(Named("diagonal") = fit.kernel_diagonal,
                                               Named("off_diagonal") = fit.kernel_off_diagonal);
  }
  result["method"] = fit.method;
  return result;
}
