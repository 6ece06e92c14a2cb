// Connects kinship of pairs of samples with the core.
#include <vector>

#include "core/genotypes/kinship.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

// A data frame with a row for each pair whose kinship is `bound` or more; indices from 1.
// [[Rcpp::export]]
Rcpp::DataFrame related_pairs_impl(const Rcpp::List& genotypes, double bound,
                                   const Rcpp::List& work, const Rcpp::Function& watch) {
  const ancify::Work by = as_work(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  std::vector<ancify::RelatedPair> pairs;
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    pairs = ancify::related_pairs(*file, chosen.selection, bound, by.memory, by.backend.simd,
                                  by.backend.threads, control);
  });
  const auto column = [&](const auto& value) {
    Rcpp::NumericVector values(static_cast<R_xlen_t>(pairs.size()));
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      values[static_cast<R_xlen_t>(k)] = static_cast<double>(value(pairs[k]));
    }
    return values;
  };
  using ancify::RelatedPair;
  using Rcpp::Named;
  return Rcpp::DataFrame::create(
      Named("first") = column([](const RelatedPair& pair) { return pair.first + 1; }),
      Named("second") = column([](const RelatedPair& pair) { return pair.second + 1; }),
      Named("kinship") = column([](const RelatedPair& pair) { return pair.counts.kinship(); }),
      Named("n") = column([](const RelatedPair& pair) { return pair.counts.variants(); }),
      Named("both_heterozygous") =
          column([](const RelatedPair& pair) { return pair.counts.both_heterozygous; }),
      Named("opposite") = column([](const RelatedPair& pair) { return pair.counts.opposite; }));
}
