// Connects ancify_evaluate() with the core.
#include "core/ancestry/comparison/evaluation.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

// Paths by chromosome, "" for none.
struct EvaluatedFiles {
  std::vector<std::string> calls;
  std::vector<std::string> references;
  std::vector<std::string> variants;
};

template <>
struct Fields<EvaluatedFiles> {
  using All = EvaluatedFiles;
  static constexpr auto table =
      fields("EvaluatedFiles", field("calls", &All::calls), field("references", &All::references),
             field("variants", &All::variants));
};

// Evaluates the calls of chromosomes. `files` is for EvaluatedFiles. Returns a matrix with a row
// per chromosome.
// [[Rcpp::export]]
Rcpp::NumericMatrix evaluate_impl(const Rcpp::NumericVector& lengths, const Rcpp::List& files,
                                  const Rcpp::List& work, const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
  const auto [calls, references, variants] = from_list<EvaluatedFiles>(files);
  std::vector<ancify::ChromosomeToEvaluate> chromosomes;
  for (const auto& [name, length] : as_chromosomes(lengths)) {
    const std::size_t i = chromosomes.size();
    chromosomes.push_back({name, length, calls[i], references[i], variants[i]});
  }
  std::vector<ancify::Evaluation> results;
  run_job(watch, [&](ancify::JobControl& control) {
    results = ancify::evaluate(chromosomes, chosen.threads, chosen.simd, control);
  });

  const std::vector<const char*> columns = {
      "high",        "low",      "unresolved", "missing", "test", "reference", "both",
      "equal",       "variants", "called",     "ref",     "alt",  "either",    "vcf_unresolved",
      "vcf_missing", "other"};
  Rcpp::NumericMatrix table(static_cast<int>(results.size()), static_cast<int>(columns.size()));
  for (int i = 0; i < table.nrow(); ++i) {
    const auto& [of_calls, agreement, of_variants] = results[static_cast<std::size_t>(i)];
    const std::vector<std::int64_t> row = {of_calls.high,        of_calls.low,
                                           of_calls.unresolved,  of_calls.missing,
                                           agreement.first,      agreement.second,
                                           agreement.both,       agreement.equal,
                                           of_variants.variants, of_variants.called,
                                           of_variants.ref,      of_variants.alt,
                                           of_variants.either,   of_variants.unresolved,
                                           of_variants.missing,  of_variants.other_records};
    for (int column = 0; column < table.ncol(); ++column) {
      table(i, column) = static_cast<double>(row[static_cast<std::size_t>(column)]);
    }
  }
  Rcpp::colnames(table) = Rcpp::CharacterVector(columns.begin(), columns.end());
  return table;
}
