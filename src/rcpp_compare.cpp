// Connects compare_calls() with the core.
#include "core/ancestry/comparison/call_comparison.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace {

Rcpp::NumericVector as_numeric(const std::vector<std::int64_t>& counts) {
  return Rcpp::NumericVector(counts.begin(), counts.end());
}

// With `any_letters`, letters that are not calls count as missing, as in genomes; else they are an
// error.
struct ComparedFolders {
  std::vector<std::string> folders;
  Rcpp::NumericVector lengths;
  std::int64_t window;
  bool any_letters;
};

}  // namespace

template <>
struct Fields<ComparedFolders> {
  using All = ComparedFolders;
  static constexpr auto table =
      fields("ComparedFolders", field("folders", &All::folders), field("lengths", &All::lengths),
             field("window", &All::window), field("any_letters", &All::any_letters));
};

// Compares the calls in several folders. `compared` is for ComparedFolders. Returns list(pairs =,
// called =, both =, differ =), the fields of CallComparison, for each chromosome.
// [[Rcpp::export]]
Rcpp::List compare_calls_impl(const Rcpp::List& compared, const Rcpp::List& work,
                              const Rcpp::Function& watch) {
  const auto [folders, lengths, window, any_letters] = from_list<ComparedFolders>(compared);
  const ancify::Backend chosen = as_work(work).backend;
  const auto chromosomes = chromosomes_in(folders, lengths, watch);
  const auto others = any_letters ? ancify::OtherLetters::kMissing : ancify::OtherLetters::kRefused;
  const std::int64_t positions = window;
  std::vector<ancify::CallComparison> comparisons;
  run_job(watch, [&](ancify::JobControl& control) {
    comparisons = ancify::compare_calls(chromosomes, positions, chosen, control, others);
  });
  return Rcpp::List(comparisons.begin(), comparisons.end(), [](const auto& comparison) {
    return Rcpp::List::create(Rcpp::Named("pairs") = as_numeric(comparison.pairs),
                              Rcpp::Named("called") = as_numeric(comparison.called),
                              Rcpp::Named("both") = as_numeric(comparison.both),
                              Rcpp::Named("differ") = as_numeric(comparison.differ));
  });
}
