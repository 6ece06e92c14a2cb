// Connects mutation spectra with the core.
#include <memory>
#include <optional>

#include "core/spectra/mutation_contexts.h"
#include "core/spectra/mutation_counts.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_spectra.h"

namespace {

// Returns list(window =, cell =, count =); windows and cells count from 0.
Rcpp::List as_list(const ancify::WindowSums& sums) {
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("window") = Rcpp::IntegerVector(sums.windows.begin(), sums.windows.end()),
      Named("cell") = Rcpp::NumericVector(sums.cells.begin(), sums.cells.end()),
      Named("count") = Rcpp::NumericVector(sums.sums.begin(), sums.sums.end()));
}

// A row for each type: sums over its sites.
Rcpp::DataFrame sums_by_type(const std::vector<ancify::Misidentification::Sums>& types) {
  using Rcpp::Named;
  const auto n = static_cast<R_xlen_t>(types.size());
  Rcpp::NumericVector sites(n);
  Rcpp::NumericVector errors(n);
  Rcpp::NumericVector variances(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& sums = types[static_cast<std::size_t>(i)];
    sites[i] = static_cast<double>(sums.sites);
    errors[i] = sums.errors;
    variances[i] = sums.variance;
  }
  return Rcpp::DataFrame::create(Named("sites") = sites, Named("errors") = errors,
                                 Named("variance") = variances);
}

ancify::CountedAs as_counted(const std::string& name) {
  using ancify::CountedAs;
  return choice<CountedAs>(name, {{"sites", CountedAs::kSites},
                                  {"haplotypes", CountedAs::kHaplotypes},
                                  {"frequencies", CountedAs::kFrequencies}});
}

}  // namespace

template <>
struct Fields<ancify::MutationOptions> {
  using All = ancify::MutationOptions;
  static constexpr auto table =
      fields("MutationOptions", field("k", &All::k), field("use_info", &All::use_info),
             field("reference_context", &All::reference_context),
             field("low_confidence", &All::low_confidence), field("mask", &All::mask),
             field("window", &All::window), field("work", &All::threads, threads_of),
             field("counted_as", &All::counted_as, as_counted));
};

template <>
struct Fields<ancify::ContextOptions> {
  using All = ancify::ContextOptions;
  static constexpr auto table =
      fields("ContextOptions", field("k", &All::k), field("mask", &All::mask),
             field("low_confidence", &All::low_confidence), field("window", &All::window),
             field("work", &All::threads, threads_of));
};

// Counts the mutations of a file of variants. `counts` and `sequences` are as in
// tabulate_variants_impl(). `options`: list(k =, use_info =, reference_context =, low_confidence =,
// counted_as = "sites", "haplotypes" or "frequencies", mask = a path or "", window = bases or 0,
// work =). The result's `table` is for mutation_frequencies_impl().
// [[Rcpp::export]]
Rcpp::List count_mutations_impl(const std::string& variants, const Rcpp::List& counts,
                                const Rcpp::List& sequences, const Rcpp::List& options,
                                const Rcpp::Function& watch) {
  using Rcpp::Named;
  auto wanted = from_list<ancify::MutationOptions>(options);
  wanted.variants = variants;
  take_counts(counts, wanted);
  take_sequences(sequences, wanted);
  std::unique_ptr<ancify::MutationCounts> mutations;
  run_job(watch, [&](ancify::JobControl& control) {
    mutations = std::make_unique<ancify::MutationCounts>(ancify::count_mutations(wanted, control));
  });
  const auto left = Rcpp::NumericVector::create(
      Named("NO_CONTEXT") = static_cast<double>(mutations->no_context),
      Named("LOW_CONTEXT") = static_cast<double>(mutations->low_context),
      Named("INVARIANT") = static_cast<double>(mutations->invariant),
      Named("USED") = static_cast<double>(mutations->used));
  Rcpp::List result = Rcpp::List::create(
      Named("reasons") = reasons_of(mutations->chromosomes),
      Named("monomorphic") = static_cast<double>(mutations->monomorphic), Named("sites") = left,
      Named("without_counts") = static_cast<double>(mutations->without_counts),
      Named("impossible_counts") = static_cast<double>(mutations->impossible_counts),
      Named("has_posteriors") = mutations->has_posteriors,
      Named("chromosomes") = as_data_frame(mutations->chromosomes),
      Named("lengths") = Rcpp::NumericVector(mutations->lengths.begin(), mutations->lengths.end()),
      Named("sums") = as_list(mutations->sums), Named("errors") = sums_by_type(mutations->errors),
      Named("most") = Rcpp::IntegerVector(Rcpp::wrap(mutations->table.most_called())));
  result["table"] = Rcpp::XPtr<const ancify::MutationCounts>(mutations.release());
  return result;
}

// The spectrum of each of `types`, from 0, as in sfs_from_sites_impl(); `bootstrap` has a column
// for each.
// [[Rcpp::export]]
Rcpp::List mutation_frequencies_impl(SEXP table, const std::vector<int>& sizes,
                                     const Rcpp::IntegerMatrix& draws, const Rcpp::List& work,
                                     const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const Rcpp::XPtr<const ancify::MutationCounts> counts(table);
  std::optional<ancify::SiteTable> projected;
  run_job(watch, [&](ancify::JobControl&) { projected = counts->table.projected_to(sizes); });
  return spectra_of(*projected, draws, threads, watch);
}

// Counts contexts. `files`: a data frame of chromosome, "" if the file names them, and path.
// `options`: list(k =, mask =, low_confidence =, window =, work =).
// [[Rcpp::export]]
Rcpp::List count_contexts_impl(const Rcpp::DataFrame& files, const Rcpp::List& options,
                               const Rcpp::Function& watch) {
  using Rcpp::Named;
  auto wanted = from_list<ancify::ContextOptions>(options);
  wanted.sequences = as_sequence_files(files);
  ancify::ContextCounts counts;
  run_job(watch,
          [&](ancify::JobControl& control) { counts = ancify::count_contexts(wanted, control); });
  const auto n = static_cast<R_xlen_t>(counts.chromosomes.size());
  Rcpp::CharacterVector names(n);
  Rcpp::NumericVector lengths(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& chromosome = counts.chromosomes[static_cast<std::size_t>(i)];
    names[i] = Rcpp::String(chromosome.name, CE_UTF8);
    lengths[i] = static_cast<double>(chromosome.length);
  }
  return Rcpp::List::create(Named("chromosomes") = names, Named("lengths") = lengths,
                            Named("sums") = as_list(counts.sums));
}
