// Gives dosages of genotypes, and sums of them, to R.
#include <algorithm>
#include <vector>

#include "core/formats/genotype/selected_dosages.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

// Dosages as a matrix of numbers, with a row for each sample.
// [[Rcpp::export]]
Rcpp::NumericMatrix genotype_dosages_impl(const Rcpp::List& genotypes, const Rcpp::List& work,
                                          const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  Rcpp::NumericMatrix matrix = make_matrix(static_cast<int>(chosen.selection.samples.size()),
                                           static_cast<int>(chosen.selection.variants.size()));
  double* const values = matrix.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    ancify::dosages_as_numbers(*file, chosen.selection, NA_REAL, threads, control, values);
  });
  return matrix;
}

// Returns list(n =, sum =, variance =) of the dosages of each variant, see DosageSums.
// [[Rcpp::export]]
Rcpp::List dosage_sums_impl(const Rcpp::List& genotypes, const Rcpp::List& work,
                            const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  std::vector<ancify::DosageSums> sums;
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    sums = ancify::sum_dosages(*file, chosen.selection, threads, control);
  });
  const auto field = [&](double ancify::DosageSums::*of) {
    Rcpp::NumericVector values(static_cast<R_xlen_t>(sums.size()));
    std::transform(sums.begin(), sums.end(), values.begin(),
                   [of](const ancify::DosageSums& one) { return one.*of; });
    return values;
  };
  using Rcpp::Named;
  return Rcpp::List::create(Named("n") = field(&ancify::DosageSums::n),
                            Named("sum") = field(&ancify::DosageSums::sum),
                            Named("variance") = field(&ancify::DosageSums::variance));
}
