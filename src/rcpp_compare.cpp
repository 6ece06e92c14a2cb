// Connects compare_calls() with the core.
#include "core/ancestry/comparison/call_comparison.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

namespace {

Rcpp::NumericVector as_numeric(const std::vector<std::int64_t>& counts) {
  return Rcpp::NumericVector(counts.begin(), counts.end());
}

}  // namespace

// Compares the calls in several folders. Returns list(pairs =, called =, both =, differ =), the
// fields of CallComparison, for each chromosome. `any_letters`: letters that are not calls count as
// missing, as in genomes; else they are an error.
// [[Rcpp::export]]
Rcpp::List compare_calls_impl(const std::vector<std::string>& folders,
                              const Rcpp::NumericVector& lengths, double window, bool any_letters,
                              const Rcpp::List& backend, const Rcpp::Function& watch) {
  const auto& chosen = as_backend(backend);
  const auto chromosomes = chromosomes_in(folders, lengths, watch);
  const auto others = any_letters ? ancify::OtherLetters::kMissing : ancify::OtherLetters::kRefused;
  std::vector<ancify::CallComparison> comparisons;
  run_job(watch, [&](ancify::JobControl& control) {
    comparisons = ancify::compare_calls(chromosomes, static_cast<std::int64_t>(window), chosen,
                                        control, others);
  });
  return Rcpp::List(comparisons.begin(), comparisons.end(), [](const auto& comparison) {
    return Rcpp::List::create(Rcpp::Named("pairs") = as_numeric(comparison.pairs),
                              Rcpp::Named("called") = as_numeric(comparison.called),
                              Rcpp::Named("both") = as_numeric(comparison.both),
                              Rcpp::Named("differ") = as_numeric(comparison.differ));
  });
}
