// Connects site frequency spectra with the core.
#include "rcpp_spectra.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/spectra/depths.h"
#include "core/spectra/joint_spectrum.h"
#include "core/spectra/likelihoods.h"
#include "core/spectra/populations.h"
#include "core/spectra/site_table.h"
#include "core/spectra/spectrum_reader.h"
#include "core/spectra/variant_sites.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

Rcpp::List spectra_of(const ancify::SiteTable& table, const Rcpp::IntegerMatrix& draws, int threads,
                      const Rcpp::Function& watch) {
  using Rcpp::Named;
  int cells = 1;
  for (const int size : table.sizes()) cells *= size + 1;
  const auto spectrum = make_matrix(cells, 1);
  const auto bootstrap = make_matrix(cells, draws.ncol());
  const int* const drawn = draws.begin();
  double* const all = const_cast<double*>(spectrum.begin());
  double* const replicates = const_cast<double*>(bootstrap.begin());
  const int windows = draws.nrow();
  const int n = draws.ncol();
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::joint_spectra(table, drawn, windows, n, all, replicates, threads, control);
  });
  return Rcpp::List::create(
      Named("spectrum") = spectrum, Named("bootstrap") = bootstrap,
      Named("sites") = static_cast<double>(table.sites()),
      Named("used") = static_cast<double>(table.used()),
      Named("too_few") = Rcpp::NumericVector(table.too_few().begin(), table.too_few().end()));
}

namespace {

// A data frame with a row for each kind of mutation that has sites, with sums over its sites.
Rcpp::DataFrame as_data_frame(const std::vector<ancify::Misidentification::Sums>& kinds) {
  using Rcpp::Named;
  Rcpp::CharacterVector mutations;
  Rcpp::LogicalVector cpg;
  Rcpp::NumericVector sites;
  Rcpp::NumericVector errors;
  Rcpp::NumericVector variances;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto& sums = kinds[kind];
    if (sums.sites == 0) continue;
    mutations.push_back(ancify::kMutationNames[kind / ancify::kCpgStates]);
    const auto state = static_cast<ancify::CpgState>(kind % ancify::kCpgStates);
    const bool is_known = state != ancify::CpgState::kUnknown;
    cpg.push_back(is_known ? static_cast<int>(state == ancify::CpgState::kYes) : NA_LOGICAL);
    sites.push_back(static_cast<double>(sums.sites));
    errors.push_back(sums.errors);
    variances.push_back(sums.variance);
  }
  return Rcpp::DataFrame::create(Named("mutation") = mutations, Named("cpg") = cpg,
                                 Named("sites") = sites, Named("errors") = errors,
                                 Named("variance") = variances, Named("stringsAsFactors") = false);
}

Rcpp::String utf8(const std::string& text) { return {text, CE_UTF8}; }

// Sites in memory. `derived` and `called` are matrices with a row per site and a column per
// population, with 0 <= derived <= called. `posterior` and `window`, which counts from 0, may be
// empty.
struct SitesInMemory {
  Rcpp::IntegerMatrix derived;
  Rcpp::IntegerMatrix called;
  Rcpp::NumericVector posterior;
  Rcpp::IntegerVector window;
};

struct CountSource {
  std::vector<int> populations;
  std::vector<std::string> copies;
  std::vector<std::string> called;
  bool named;
};

struct ClassColumns {
  Rcpp::NumericVector position;
  Rcpp::IntegerVector derived;
  Rcpp::IntegerVector number;
};

}  // namespace

template <>
struct Fields<SitesInMemory> {
  using All = SitesInMemory;
  static constexpr auto table =
      fields("SitesInMemory", field("derived", &All::derived), field("called", &All::called),
             field("posterior", &All::posterior), field("window", &All::window));
};

template <>
struct Fields<CountSource> {
  using All = CountSource;
  static constexpr auto table =
      fields("CountSource", field("populations", &All::populations), field("copies", &All::copies),
             field("called", &All::called), field("named", &All::named));
};

template <>
struct Fields<ClassColumns> {
  using All = ClassColumns;
  static constexpr auto table =
      fields("SiteClasses", field("position", &All::position), field("derived", &All::derived),
             field("class", &All::number));
};

namespace {

// `classes` is a list by chromosome of list(position = from 1 and sorted, derived = the code of a
// base from 0, or -1 for any, class = from 0).
std::unordered_map<std::string, std::vector<ancify::SiteClass>> as_classes(
    const Rcpp::List& classes) {
  std::unordered_map<std::string, std::vector<ancify::SiteClass>> result;
  if (classes.size() == 0) return result;
  const auto names = Rcpp::as<std::vector<std::string>>(classes.names());
  for (R_xlen_t c = 0; c < classes.size(); ++c) {
    const auto [position, derived, number] = from_list<ClassColumns>(classes[c]);
    std::vector<ancify::SiteClass>& sites = result[names[static_cast<std::size_t>(c)]];
    for (R_xlen_t i = 0; i < position.size(); ++i) {
      sites.push_back({as_integer<std::int64_t>(position[i]) - 1, derived[i], number[i]});
    }
  }
  return result;
}

std::size_t number_of_populations(const std::vector<int>& populations) {
  return 1 + static_cast<std::size_t>(*std::max_element(populations.begin(), populations.end()));
}

ancify::SiteKind as_site_kind(int number) { return static_cast<ancify::SiteKind>(number); }

struct LikelihoodOptions : ancify::SiteReaderOptions {
  std::int64_t window = 0;
};

// The counts of a file's records by outcome.
Rcpp::List as_list(const ancify::RecordTotals& totals) {
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("reasons") = reasons_of(totals.chromosomes),
      Named("monomorphic") = static_cast<double>(totals.monomorphic),
      Named("other_kind") = static_cast<double>(totals.other_kind),
      Named("without_counts") = static_cast<double>(totals.without_counts),
      Named("impossible_counts") = static_cast<double>(totals.impossible_counts),
      Named("has_posteriors") = totals.has_posteriors,
      Named("letters") = ::as_data_frame(totals.letters),
      Named("chromosomes") = ::as_data_frame(totals.chromosomes));
}

}  // namespace

void take_counts(const Rcpp::List& source, ancify::SiteReaderOptions& options) {
  const auto taken = from_list<CountSource>(source);
  options.populations = taken.populations;
  for (std::size_t k = 0; k < taken.copies.size(); ++k) {
    options.count_fields.push_back({taken.copies[k], taken.called[k]});
  }
  options.named_fields = taken.named;
  options.n_populations =
      taken.copies.empty() ? number_of_populations(taken.populations) : taken.copies.size();
}

template <>
struct Fields<ancify::VariantSitesOptions> {
  using All = ancify::VariantSitesOptions;
  static constexpr auto table =
      fields("VariantSitesOptions", field("use_info", &All::use_info),
             field("folded", &All::ref_is_ancestral), field("mask", &All::mask),
             field("low_confidence", &All::low_confidence), field("window", &All::window),
             field("work", &All::threads, threads_of), field("kind", &All::kind, as_site_kind),
             field("n_classes", &All::n_classes), field("classes", &All::classes, as_classes),
             field("least_posterior", &All::least_posterior));
};

template <>
struct Fields<LikelihoodOptions> {
  using All = LikelihoodOptions;
  static constexpr auto table =
      fields("LikelihoodOptions", field("use_info", &All::use_info), field("mask", &All::mask),
             field("low_confidence", &All::low_confidence), field("window", &All::window),
             field("work", &All::threads, threads_of));
};

// Spectra of sites in memory, a list for SitesInMemory.
// [[Rcpp::export]]
Rcpp::List sfs_from_sites_impl(const Rcpp::List& sites, const std::vector<int>& sizes,
                               const Rcpp::IntegerMatrix& draws, const Rcpp::List& work,
                               const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto [derived, called, posterior, window] = from_list<SitesInMemory>(sites);
  ancify::SiteColumns columns = {derived.nrow(), {}, {}, nullptr, nullptr};
  for (int k = 0; k < derived.ncol(); ++k) {
    columns.derived.push_back(derived.begin() + static_cast<R_xlen_t>(k) * derived.nrow());
    columns.called.push_back(called.begin() + static_cast<R_xlen_t>(k) * called.nrow());
  }
  if (posterior.size() > 0) columns.posterior = posterior.begin();
  if (window.size() > 0) columns.window = window.begin();
  std::optional<ancify::SiteTable> table;
  run_job(watch, [&](ancify::JobControl& control) {
    table = ancify::tabulate_sites(columns, sizes, threads, control);
  });
  return spectra_of(*table, draws, threads, watch);
}

// Opens a spectrum's file, which the next three functions read.
// [[Rcpp::export]]
SEXP open_spectrum_impl(const std::string& path) {
  std::unique_ptr<ancify::SpectrumReader> reader;
  guarded([&] { reader = std::make_unique<ancify::SpectrumReader>(path); });
  return Rcpp::XPtr<ancify::SpectrumReader>(reader.release());
}

// Advances to the next line that is neither empty nor a comment. Returns list(number = of this
// line, or of the last line, found =).
// [[Rcpp::export]]
Rcpp::List next_spectrum_line_impl(SEXP reader) {
  const Rcpp::XPtr<ancify::SpectrumReader> spectrum(reader);
  bool found = false;
  guarded([&] { found = spectrum->next_line(); });
  return Rcpp::List::create(Rcpp::Named("number") = static_cast<double>(spectrum->line()),
                            Rcpp::Named("found") = found);
}

// [[Rcpp::export]]
Rcpp::CharacterVector spectrum_text_impl(SEXP reader) {
  const Rcpp::XPtr<ancify::SpectrumReader> spectrum(reader);
  std::string text;
  guarded([&] { text = spectrum->text(); });
  return Rcpp::CharacterVector::create(utf8(text));
}

// Returns list(values = the line's first n numbers, words = their total, n + 1 if more than n).
// [[Rcpp::export]]
Rcpp::List spectrum_numbers_impl(SEXP reader, double n, const std::string& what) {
  const Rcpp::XPtr<ancify::SpectrumReader> spectrum(reader);
  Rcpp::NumericVector values(as_integer<R_xlen_t>(n));
  double* const first = values.begin();
  std::int64_t words = 0;
  guarded([&] { words = spectrum->numbers(first, values.size(), what); });
  return Rcpp::List::create(Rcpp::Named("values") = values,
                            Rcpp::Named("words") = static_cast<double>(words));
}

// [[Rcpp::export]]
Rcpp::CharacterVector variant_samples_impl(const std::string& path, bool may_be_none = false) {
  std::vector<std::string> samples;
  guarded([&] { samples = ancify::variant_samples(path, may_be_none); });
  Rcpp::CharacterVector result(static_cast<R_xlen_t>(samples.size()));
  std::transform(samples.begin(), samples.end(), result.begin(), utf8);
  return result;
}

// [[Rcpp::export]]
Rcpp::DataFrame read_populations_impl(const std::string& path) {
  std::vector<ancify::PopulationOfSample> table;
  guarded([&] { table = ancify::read_populations(path); });
  const auto n = static_cast<R_xlen_t>(table.size());
  Rcpp::CharacterVector samples(n);
  Rcpp::CharacterVector populations(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    samples[i] = utf8(table[static_cast<std::size_t>(i)].sample);
    populations[i] = utf8(table[static_cast<std::size_t>(i)].population);
  }
  return Rcpp::DataFrame::create(Rcpp::Named("sample") = samples,
                                 Rcpp::Named("population") = populations,
                                 Rcpp::Named("stringsAsFactors") = false);
}

// Tabulates the sites of a file of variants. `counts` is for take_counts(), `sequences` for
// take_sequences(). `options`: list(use_info = whether INFO has the ancestral alleles, folded =
// whether REF counts as ancestral, mask = a BED or "", low_confidence =, window = bases or 0,
// work =, kind = the index of a SiteKind, n_classes = 0 for none, classes = for as_classes()). The
// result's `table` is for variant_spectrum_impl().
// [[Rcpp::export]]
Rcpp::List tabulate_variants_impl(const std::string& variants, const Rcpp::List& counts,
                                  const Rcpp::List& sequences, const Rcpp::List& options,
                                  const Rcpp::Function& watch) {
  auto wanted = from_list<ancify::VariantSitesOptions>(options);
  wanted.variants = variants;
  take_counts(counts, wanted);
  take_sequences(sequences, wanted);
  std::unique_ptr<ancify::VariantSites> sites;
  run_job(watch, [&](ancify::JobControl& control) {
    sites = std::make_unique<ancify::VariantSites>(ancify::tabulate_variants(wanted, control));
  });
  Rcpp::List result = as_list(*sites);
  result["most"] = Rcpp::IntegerVector(Rcpp::wrap(sites->table.most_called()));
  result["windows"] = sites->windows;
  result["unclassed"] = static_cast<double>(sites->unclassed);
  result["doubtful"] = static_cast<double>(sites->doubtful);
  result["table"] = Rcpp::XPtr<const ancify::VariantSites>(sites.release());
  return result;
}

// [[Rcpp::export]]
Rcpp::List variant_spectrum_impl(SEXP table, const std::vector<int>& sizes,
                                 const Rcpp::IntegerMatrix& draws, const Rcpp::List& work,
                                 const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const Rcpp::XPtr<const ancify::VariantSites> sites(table);
  std::optional<ancify::SiteTable> projected;
  run_job(watch, [&](ancify::JobControl&) { projected = sites->table.projected_to(sizes); });
  Rcpp::List result = spectra_of(*projected, draws, threads, watch);
  result["misidentification"] = as_data_frame(sites->errors.of_sizes(sizes));
  return result;
}

// The combinations of allele counts in each window: list(called =, derived = with a row for each
// and a column for each population, window = from 1, as_counted = the sum of the probabilities that
// the counted allele is derived, swapped = that the other is). And each window's chromosome, from
// 1, and index, from 0.
// [[Rcpp::export]]
Rcpp::List variant_rows_impl(SEXP table) {
  const Rcpp::XPtr<const ancify::VariantSites> sites(table);
  const ancify::SiteTable& rows = sites->table;
  const auto n = static_cast<int>(rows.size());
  Rcpp::IntegerMatrix called(n, static_cast<int>(rows.populations()));
  Rcpp::IntegerMatrix derived(n, called.ncol());
  Rcpp::IntegerVector window(n);
  Rcpp::NumericVector as_counted(n);
  Rcpp::NumericVector swapped(n);
  for (int i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = 0; k < called.ncol(); ++k) {
      const ancify::AlleleCount count = rows.count(row, static_cast<std::size_t>(k));
      called(i, k) = count.called;
      derived(i, k) = count.derived;
    }
    window[i] = rows.window(row) + 1;
    as_counted[i] = rows.as_counted(row);
    swapped[i] = rows.swapped(row);
  }
  const auto windows = static_cast<R_xlen_t>(sites->places.size());
  Rcpp::IntegerVector chromosome(windows);
  Rcpp::NumericVector index(windows);
  for (R_xlen_t i = 0; i < windows; ++i) {
    const ancify::SiteWindow& place = sites->places[static_cast<std::size_t>(i)];
    chromosome[i] = static_cast<int>(place.chromosome) + 1;
    index[i] = static_cast<double>(place.index);
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("called") = called, Named("derived") = derived,
                            Named("window") = window, Named("as_counted") = as_counted,
                            Named("swapped") = swapped, Named("chromosome") = chromosome,
                            Named("index") = index);
}

// The number of genotypes of each depth: list(sites =, genotypes = a column for each population).
// `populations` has an index for each sample: its population, from 0, or -1 for none.
// [[Rcpp::export]]
Rcpp::List count_depths_impl(const std::string& variants, const std::vector<int>& populations,
                             const Rcpp::Function& watch) {
  ancify::DepthCounts counts;
  const std::size_t n = number_of_populations(populations);
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::count_depths(variants, populations, n, control);
  });
  Rcpp::NumericMatrix genotypes(ancify::kMostDepth + 1, static_cast<int>(n));
  for (std::size_t k = 0; k < n; ++k) {
    std::copy(counts.genotypes[k].begin(), counts.genotypes[k].end(),
              genotypes.column(static_cast<int>(k)).begin());
  }
  return Rcpp::List::create(Rcpp::Named("sites") = static_cast<double>(counts.sites),
                            Rcpp::Named("genotypes") = genotypes);
}

// Reads genotype likelihoods. The arguments are as in count_depths_impl() and
// tabulate_variants_impl(); of `options` it
// takes use_info, low_confidence, work and window. The result's `table` is for
// likelihood_step_impl().
// [[Rcpp::export]]
Rcpp::List read_likelihoods_impl(const std::string& variants, const std::vector<int>& populations,
                                 const Rcpp::List& sequences, const Rcpp::List& options,
                                 const Rcpp::Function& watch) {
  auto wanted = from_list<LikelihoodOptions>(options);
  wanted.variants = variants;
  wanted.populations = populations;
  wanted.n_populations = number_of_populations(populations);
  take_sequences(sequences, wanted);
  wanted.needs_counts = false;
  std::unique_ptr<ancify::LikelihoodSites> sites;
  run_job(watch, [&](ancify::JobControl& control) {
    sites = std::make_unique<ancify::LikelihoodSites>(
        ancify::read_likelihoods(wanted, wanted.window, control));
  });
  Rcpp::List result = as_list(*sites);
  result["sizes"] = Rcpp::IntegerVector(Rcpp::wrap(sites->table.sizes));
  result["sites"] = static_cast<double>(sites->table.sites());
  result["without"] = static_cast<double>(sites->without);
  result["windows"] = sites->windows;
  result["table"] = Rcpp::XPtr<const ancify::LikelihoodSites>(sites.release());
  return result;
}

// A step of the EM algorithm: list(counts = of each cell, log_likelihood =).
// [[Rcpp::export]]
Rcpp::List likelihood_step_impl(SEXP table, const std::vector<double>& prior,
                                const std::vector<int>& weights, const Rcpp::List& work,
                                const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const Rcpp::XPtr<const ancify::LikelihoodSites> sites(table);
  ancify::LikelihoodStep step;
  run_job(watch, [&](ancify::JobControl& control) {
    step = ancify::likelihood_step(sites->table, prior, weights, threads, control);
  });
  return Rcpp::List::create(Rcpp::Named("counts") = step.counts,
                            Rcpp::Named("log_likelihood") = step.log_likelihood);
}
