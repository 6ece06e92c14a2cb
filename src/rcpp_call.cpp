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

Rcpp::NumericMatrix as_matrix(const std::vector<ancify::CallCounts>& counts) {
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

}  // namespace

// Calls from sequences of equal length, inner ones first; gives the calls as one string.
// [[Rcpp::export]]
Rcpp::CharacterVector call_sequences_impl(const Rcpp::CharacterVector& sequences, int n_inner,
                                          int min_inner, int min_outer, const Rcpp::List& backend,
                                          const Rcpp::Function& watch) {
  ancify::SequenceSources species;
  for (R_xlen_t i = 0; i < sequences.size(); ++i) {
    species.push_back(
        ancify::memory_source(CHAR(STRING_ELT(sequences, i)), ancify::SequenceForm::kCharacters));
  }
  const int n = LENGTH(STRING_ELT(sequences, 0));
  const auto n_outer = static_cast<int>(sequences.size()) - n_inner;
  const auto voting = as_voting(n_inner, n_outer, min_inner, min_outer);
  const auto chosen = as_backend(backend);
  std::vector<char> calls;
  run_job(watch, [&](ancify::JobControl& control) {
    calls.resize(static_cast<std::size_t>(n));
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
  std::vector<ancify::ChromosomeToCall> chromosomes;
  for (const auto& chromosome : as_chromosomes(lengths)) {
    chromosomes.push_back(
        {chromosome.name, chromosome.length, [chromosome, &folders] {
           ancify::SequenceSources species;
           for (const auto& folder : folders) {
             species.push_back(ancify::file_source(ancify::sequence_path(folder, chromosome.name),
                                                   chromosome.name, chromosome.length));
           }
           return species;
         }});
  }
  std::vector<ancify::CallCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::Caller caller(voting, chosen);
    counts = ancify::call_chromosomes(caller, chromosomes, output, control);
  });
  return as_matrix(counts);
}

// Projects alignments, inner ones first, into memory, and calls from there into `output`. Gives the
// reports of projection and the counts of call_files_impl().
// [[Rcpp::export]]
Rcpp::List project_and_call_impl(const std::vector<std::string>& species,
                                 const std::vector<std::string>& axt, int n_inner,
                                 const Rcpp::NumericVector& lengths,
                                 const std::string& on_bad_block, double chunk_size,
                                 const std::string& output, int min_inner, int min_outer,
                                 const Rcpp::List& backend, const Rcpp::Function& watch) {
  const auto n_outer = static_cast<int>(axt.size()) - n_inner;
  const auto voting = as_voting(n_inner, n_outer, min_inner, min_outer);
  const auto chosen = as_backend(backend);
  const auto options = as_options(on_bad_block, chunk_size, chosen);
  const auto all = as_chromosomes(lengths);
  std::vector<ancify::ProjectionReport> reports;
  std::vector<ancify::CallCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::Caller caller(voting, chosen);
    std::vector<ancify::Alignment> alignments;
    std::vector<const ancify::PackedStore*> stores;
    for (std::size_t i = 0; i < axt.size(); ++i) {
      auto store = std::make_unique<ancify::PackedStore>(all, chosen.simd);
      stores.push_back(store.get());
      alignments.push_back({species[i], axt[i], std::move(store)});
    }
    std::vector<ancify::ChromosomeToCall> chromosomes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      chromosomes.push_back({all[i].name, all[i].length, [i, &stores] {
                               ancify::SequenceSources sources;
                               for (const auto* store : stores) {
                                 sources.push_back(ancify::memory_source(
                                     store->packed(i), ancify::SequenceForm::kPacked));
                               }
                               return sources;
                             }});
    }
    reports = ancify::project_alignments(alignments, all, options, chosen.threads, control);
    counts = ancify::call_chromosomes(caller, chromosomes, output, control);
  });
  return Rcpp::List::create(
      Rcpp::Named("reports") = Rcpp::List(reports.begin(), reports.end(), as_list),
      Rcpp::Named("counts") = as_matrix(counts));
}
