#include <optional>

#include "core/spectra/joint_spectrum.h"
#include "core/spectra/site_table.h"
#include "rcpp_glue.h"

namespace {

// list(spectrum =, a vector; bootstrap =, a column for each of `draws`; sites =, used =, too_few
// =). A column of `draws` says how often each window is drawn.
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

}  // namespace

// Spectra of sites in memory, a row each and a column for each population. `posterior` and `window`
// (from 0) may be empty. 0 <= derived <= called.
// [[Rcpp::export]]
Rcpp::List sfs_from_sites_impl(const Rcpp::IntegerMatrix& derived,
                               const Rcpp::IntegerMatrix& called,
                               const Rcpp::NumericVector& posterior,
                               const Rcpp::IntegerVector& window, const std::vector<int>& sizes,
                               const Rcpp::IntegerMatrix& draws, int threads,
                               const Rcpp::Function& watch) {
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
