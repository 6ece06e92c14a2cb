// Passes dosages of genotypes, and their sums, to R.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/formats/genotype/packed_dosages.h"
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

// Returns list(genotypes = list(calls =, dosages =, units =), rounded = a number) of a matrix of
// numbers of copies, or the index of another value, as a single number.
// [[Rcpp::export]]
Rcpp::RObject pack_dosages_impl(const Rcpp::NumericMatrix& matrix) {
  // The error of values written with up to 6 decimals, or computed from such values.
  constexpr double error = 1e-9;
  const auto is_bad = [](double value) { return !R_IsNA(value) && !(value >= 0 && value <= 2); };
  const auto bad = std::find_if(matrix.begin(), matrix.end(), is_bad);
  if (bad != matrix.end()) return Rcpp::wrap(static_cast<double>(bad - matrix.begin() + 1));
  ancify::PackedGenotypes packed;
  std::int64_t rounded = 0;
  for (int j = 0; j < matrix.ncol(); ++j) {
    const auto column = matrix.column(j);
    rounded += ancify::add_dosages({column.begin(), column.end()}, error, packed);
  }
  Rcpp::RawVector dosages(static_cast<R_xlen_t>(packed.dosages.size() * sizeof(ancify::Dosage)));
  std::memcpy(RAW(dosages), packed.dosages.data(), static_cast<std::size_t>(dosages.size()));
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("genotypes") = Rcpp::List::create(
          Named("calls") = Rcpp::RawVector(packed.calls.begin(), packed.calls.end()),
          Named("dosages") = dosages,
          Named("units") = Rcpp::IntegerVector(packed.units.begin(), packed.units.end())),
      Named("rounded") = static_cast<double>(rounded));
}
