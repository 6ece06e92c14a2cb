#include "core/ancestry/calling.h"
#include "core/io/sequence_store.h"
#include "rcpp_glue.h"

namespace {

ancify::Voting as_voting(int n_inner, int n_outer, int min_inner, int min_outer) {
  ancify::Voting voting;
  voting.n_inner = n_inner;
  voting.n_outer = n_outer;
  voting.min_inner = min_inner;
  voting.min_outer = min_outer;
  return voting;
}

}  // namespace

// Calls from sequences of equal length, inner ones first; gives the calls as one string.
// [[Rcpp::export]]
Rcpp::CharacterVector call_sequences_impl(const Rcpp::CharacterVector& sequences, int n_inner,
                                          int min_inner, int min_outer, const Rcpp::List& backend,
                                          const Rcpp::Function& watch) {
  std::vector<const char*> species;
  for (R_xlen_t i = 0; i < sequences.size(); ++i) species.push_back(CHAR(STRING_ELT(sequences, i)));
  const int n = LENGTH(STRING_ELT(sequences, 0));
  const auto n_outer = static_cast<int>(sequences.size()) - n_inner;
  const auto voting = as_voting(n_inner, n_outer, min_inner, min_outer);
  const auto chosen = as_backend(backend);
  std::vector<char> calls(static_cast<std::size_t>(n));
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::Caller caller(voting, chosen);
    ancify::call_sequences(caller, species, calls.size(), calls.data(), control);
  });
  Rcpp::CharacterVector result(1);
  SET_STRING_ELT(result, 0, make_string(calls.data(), n));
  return result;
}

// Calls every chromosome from the files of the species' folders, inner ones first, into `output`;
// gives a matrix of counts, one row a chromosome: high, low, unresolved, missing.
// [[Rcpp::export]]
Rcpp::NumericMatrix call_files_impl(const std::vector<std::string>& folders, int n_inner,
                                    const Rcpp::NumericVector& lengths, const std::string& output,
                                    int min_inner, int min_outer, const Rcpp::List& backend,
                                    const Rcpp::Function& watch) {
  const auto n_outer = static_cast<int>(folders.size()) - n_inner;
  const auto voting = as_voting(n_inner, n_outer, min_inner, min_outer);
  const auto chosen = as_backend(backend);
  std::vector<ancify::ChromosomeFiles> files;
  for (const auto& [name, length] : as_chromosomes(lengths)) {
    ancify::ChromosomeFiles one{name, length, {}, ancify::sequence_path(output, name)};
    for (const auto& folder : folders) one.species.push_back(ancify::sequence_path(folder, name));
    files.push_back(one);
  }
  std::vector<ancify::CallCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::Caller caller(voting, chosen);
    counts = ancify::call_files(caller, files, control);
  });
  Rcpp::NumericMatrix table(static_cast<int>(counts.size()), 4);
  for (int i = 0; i < table.nrow(); ++i) {
    const auto& [high, low, unresolved, missing] = counts[static_cast<std::size_t>(i)];
    table(i, 0) = static_cast<double>(high);
    table(i, 1) = static_cast<double>(low);
    table(i, 2) = static_cast<double>(unresolved);
    table(i, 3) = static_cast<double>(missing);
  }
  return table;
}
