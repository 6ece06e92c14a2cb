// Connects LD scores with the core.
#include <cstdint>
#include <vector>

#include "core/ld/ld_scores.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

// `ends`: the end of each variant's window, as the index from 1 of its last variant. Returns
// list(score =, corrected =, n_variants =).
// [[Rcpp::export]]
Rcpp::List ld_scores_impl(const Rcpp::List& genotypes, const Rcpp::NumericVector& ends,
                          const Rcpp::List& work, const Rcpp::Function& watch) {
  const ancify::Work by = as_work(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  const std::vector<std::int64_t> of_windows(ends.begin(), ends.end());
  ancify::LdScores scores;
  run_job(watch, [&](ancify::JobControl& control) {
    scores = ancify::ld_scores(*chosen.open(control.inputs()), chosen.selection, of_windows,
                               by.memory, by.backend.simd, by.backend.threads, control);
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("score") = scores.score, Named("corrected") = scores.corrected,
                            Named("n_variants") = scores.n_variants);
}
