// Connects histories and polarise_sites() with the core.
#include "core/ancestry/coalescent/coalescent.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

struct HistoryFields {
  std::vector<double> focal_size;
  std::vector<double> focal_times;
  int focal_lineages;
  double mutation_rate;
  std::vector<double> time;
  std::vector<int> from;
  std::vector<int> into;
  std::vector<double> size;
};

struct SiteColumns {
  Rcpp::IntegerVector pattern;
  Rcpp::IntegerVector first;
  Rcpp::IntegerVector second;
  Rcpp::IntegerVector copies;
  Rcpp::IntegerVector haplotypes;
  Rcpp::IntegerVector neighbours;
};

}  // namespace

template <>
struct Fields<HistoryFields> {
  using All = HistoryFields;
  static constexpr auto table =
      fields("History", field("focal_size", &All::focal_size),
             field("focal_times", &All::focal_times), field("focal_lineages", &All::focal_lineages),
             field("mutation_rate", &All::mutation_rate), field("time", &All::time),
             field("from", &All::from), field("into", &All::into), field("size", &All::size));
};

template <>
struct Fields<SiteColumns> {
  using All = SiteColumns;
  static constexpr auto table =
      fields("PolymorphicSites", field("pattern", &All::pattern), field("first", &All::first),
             field("second", &All::second), field("copies", &All::copies),
             field("haplotypes", &All::haplotypes), field("neighbours", &All::neighbours));
};

ancify::History as_history(const Rcpp::List& history) {
  const auto of = from_list<HistoryFields>(history);
  ancify::History result = {of.focal_size[0], of.focal_lineages, {}};
  for (std::size_t i = 0; i < of.focal_times.size(); ++i) {
    result.focal_changes.push_back({of.focal_times[i], of.focal_size[i + 1]});
  }
  for (std::size_t i = 0; i < of.time.size(); ++i) {
    result.joins.push_back({of.time[i], of.from[i], of.into[i], of.size[i]});
  }
  return result;
}

double mutation_rate_of(const Rcpp::List& history) {
  return from_list<HistoryFields>(history).mutation_rate;
}

ancify::MutationModel as_mutation_model(const Rcpp::List& history, const Rcpp::List& model) {
  return ancify::mutation_model(as_rates(model), mutation_rate_of(history));
}

ancify::MutationModels as_mutation_models(const Rcpp::List& history, const Rcpp::List& model) {
  ancify::MutationModels result;
  for (const auto& rates : as_class_rates(model)) {
    result.push_back(ancify::mutation_model(rates, mutation_rate_of(history)));
  }
  if (result.empty()) result.push_back(as_mutation_model(history, model));
  return result;
}

namespace {

Rcpp::NumericMatrix as_matrix(const std::vector<ancify::Posterior>& rows) {
  Rcpp::NumericMatrix result(static_cast<int>(rows.size()), ancify::kBases);
  for (int i = 0; i < result.nrow(); ++i) {
    for (int base = 0; base < ancify::kBases; ++base) {
      result(i, base) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(base)];
    }
  }
  return result;
}

}  // namespace

// The probabilities of the site patterns of the outgroups, followed by the focal species. The
// states of a pattern are the digits of its index in base 5; the first species changes fastest.
// [[Rcpp::export]]
Rcpp::NumericVector pattern_probabilities_impl(const Rcpp::List& history, const Rcpp::List& model,
                                               const Rcpp::Function& watch) {
  std::vector<double> result;
  guarded([&] {
    const auto as = as_history(history);
    const auto mutation = as_mutation_model(history, model);
    run_job(watch, [&](ancify::JobControl& control) {
      result = ancify::pattern_probabilities(as, mutation, control);
    });
  });
  return {result.begin(), result.end()};
}

// The probabilities of samples with two alleles, [pattern, ancestral, derived, copies of the
// derived allele], patterns as above without the focal species.
// [[Rcpp::export]]
Rcpp::NumericVector sample_probabilities_impl(const Rcpp::List& history, const Rcpp::List& model,
                                              int haplotypes, const Rcpp::Function& watch) {
  std::vector<double> result;
  guarded([&] {
    const auto as = as_history(history);
    const auto mutation = as_mutation_model(history, model);
    run_job(watch, [&](ancify::JobControl& control) {
      result = ancify::sample_probabilities(as, mutation, haplotypes, control);
    });
  });
  return {result.begin(), result.end()};
}

// Returns a row of posteriors for each site. `table` is list(pattern = of the outgroups, first =,
// second = base codes of the alleles, copies = of the second allele or NA, haplotypes =, neighbours
// = classes from 0, only for a model with classes), vectors.
// [[Rcpp::export]]
Rcpp::NumericMatrix polarise_impl(const Rcpp::List& history, const Rcpp::List& model,
                                  const Rcpp::List& table, const Rcpp::Function& watch) {
  const auto [pattern, first, second, copies, haplotypes, neighbours] =
      from_list<SiteColumns>(table);
  std::vector<ancify::PolymorphicSite> sites;
  for (R_xlen_t i = 0; i < pattern.size(); ++i) {
    std::optional<int> known;
    if (copies[i] != NA_INTEGER) known = copies[i];
    const int of_class = neighbours.size() > 0 ? neighbours[i] : 0;
    sites.push_back({pattern[i], {first[i], second[i]}, haplotypes[i], known, of_class});
  }
  std::vector<ancify::Posterior> posteriors;
  guarded([&] {
    const auto as = as_history(history);
    const auto mutation = as_mutation_models(history, model);
    run_job(watch, [&](ancify::JobControl& control) {
      posteriors = ancify::polarise(as, mutation, sites, control);
    });
  });
  return as_matrix(posteriors);
}
