// Connects coding changes with the core.
#include <string>
#include <unordered_map>
#include <vector>

#include "core/coding/coding_changes.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

namespace {

// `genes`: a list by chromosome of list(transcript = from 0, start = from 1, end =, in the
// direction of translation; forward = and phase = of each transcript).
std::unordered_map<std::string, std::vector<ancify::Transcript>> as_transcripts(
    const Rcpp::List& genes) {
  std::unordered_map<std::string, std::vector<ancify::Transcript>> transcripts;
  if (genes.size() == 0) return transcripts;
  const auto names = Rcpp::as<std::vector<std::string>>(genes.names());
  for (R_xlen_t c = 0; c < genes.size(); ++c) {
    const Rcpp::List of_chromosome = genes[c];
    const Rcpp::LogicalVector forward = of_chromosome["forward"];
    const Rcpp::IntegerVector phase = of_chromosome["phase"];
    std::vector<ancify::Transcript>& models = transcripts[names[static_cast<std::size_t>(c)]];
    for (R_xlen_t t = 0; t < forward.size(); ++t) {
      models.push_back({forward[t] != 0, phase[t], {}});
    }
    const Rcpp::IntegerVector transcript = of_chromosome["transcript"];
    const Rcpp::NumericVector start = of_chromosome["start"];
    const Rcpp::NumericVector end = of_chromosome["end"];
    for (R_xlen_t i = 0; i < transcript.size(); ++i) {
      models[static_cast<std::size_t>(transcript[i])].parts.push_back(
          {static_cast<std::int64_t>(start[i]) - 1, static_cast<std::int64_t>(end[i])});
    }
  }
  return transcripts;
}

// Columns with a row for each change. Numbers count from 1.
Rcpp::List as_columns(const std::vector<ancify::CodingChange>& changes) {
  using Rcpp::Named;
  const auto n = static_cast<R_xlen_t>(changes.size());
  Rcpp::IntegerVector chromosome(n);
  Rcpp::NumericVector position(n);
  Rcpp::IntegerVector transcript(n);
  Rcpp::IntegerVector codon(n);
  Rcpp::IntegerVector place(n);
  Rcpp::IntegerVector ancestral(n);
  Rcpp::IntegerVector derived(n);
  Rcpp::NumericVector posterior(n);
  Rcpp::IntegerVector called(n);
  Rcpp::IntegerVector copies(n);
  Rcpp::CharacterVector ancestral_codon(n);
  Rcpp::CharacterVector derived_codon(n);
  Rcpp::IntegerVector consequence(n);
  Rcpp::LogicalVector focal_codon(n);
  Rcpp::LogicalVector ref_is_ancestral(n);
  Rcpp::IntegerVector protein(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const ancify::CodingChange& change = changes[static_cast<std::size_t>(i)];
    chromosome[i] = static_cast<int>(change.chromosome) + 1;
    position[i] = static_cast<double>(change.position) + 1;
    transcript[i] = static_cast<int>(change.transcript) + 1;
    codon[i] = static_cast<int>(change.codon) + 1;
    place[i] = change.place + 1;
    ancestral[i] = change.ancestral + 1;
    derived[i] = change.derived + 1;
    posterior[i] = change.posterior;
    called[i] = change.count.called;
    copies[i] = change.count.derived;
    ancestral_codon[i] = ancify::letters_of(change.ancestral_codon);
    derived_codon[i] = ancify::letters_of(change.derived_codon);
    consequence[i] = static_cast<int>(change.consequence) + 1;
    focal_codon[i] = static_cast<int>(change.focal_codon);
    ref_is_ancestral[i] = static_cast<int>(change.ref_is_ancestral);
    protein[i] =
        change.protein == ancify::kNoProtein ? NA_INTEGER : static_cast<int>(change.protein) + 1;
  }
  return Rcpp::List::create(
      Named("ref_is_ancestral") = ref_is_ancestral, Named("protein") = protein,
      Named("chromosome") = chromosome, Named("position") = position,
      Named("transcript") = transcript, Named("codon") = codon, Named("place") = place,
      Named("ancestral") = ancestral, Named("derived") = derived, Named("posterior") = posterior,
      Named("called") = called, Named("copies") = copies,
      Named("ancestral_codon") = ancestral_codon, Named("derived_codon") = derived_codon,
      Named("consequence") = consequence, Named("focal_codon") = focal_codon);
}

Rcpp::List as_columns(const std::vector<ancify::TranscriptProtein>& proteins) {
  const auto n = static_cast<R_xlen_t>(proteins.size());
  Rcpp::CharacterVector sequence(n);
  Rcpp::NumericVector focal_codons(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const ancify::TranscriptProtein& protein = proteins[static_cast<std::size_t>(i)];
    sequence[i] = protein.residues;
    focal_codons[i] = static_cast<double>(protein.focal_codons);
  }
  return Rcpp::List::create(Rcpp::Named("sequence") = sequence,
                            Rcpp::Named("focal_codons") = focal_codons);
}

}  // namespace

// Finds what the sites of a file of variants change. `sequences` is as in
// tabulate_variants_impl(), `genes` as for as_transcripts(). `options`: list(use_info =,
// low_confidence =, mask = a path or "", focal = whether codons are the focal genome's,
// genetic_code = 64 residues, threads =).
// [[Rcpp::export]]
Rcpp::List coding_changes_impl(const std::string& variants, const Rcpp::List& genes,
                               const Rcpp::List& sequences, const Rcpp::List& options,
                               const Rcpp::Function& watch) {
  using Rcpp::Named;
  ancify::CodingOptions wanted;
  wanted.variants = variants;
  take_sequences(sequences, wanted);
  wanted.use_info = Rcpp::as<bool>(options["use_info"]);
  wanted.low_confidence = Rcpp::as<bool>(options["low_confidence"]);
  wanted.mask = Rcpp::as<std::string>(options["mask"]);
  wanted.threads = Rcpp::as<int>(options["threads"]);
  wanted.transcripts = as_transcripts(genes);
  wanted.genetic_code = Rcpp::as<std::string>(options["genetic_code"]);
  wanted.background = Rcpp::as<bool>(options["focal"]) ? ancify::Background::kFocal
                                                       : ancify::Background::kAncestral;
  ancify::CodingChanges found;
  run_job(watch,
          [&](ancify::JobControl& control) { found = ancify::coding_changes(wanted, control); });
  return Rcpp::List::create(Named("reasons") = reasons_of(found.chromosomes),
                            Named("monomorphic") = static_cast<double>(found.monomorphic),
                            Named("other_kind") = static_cast<double>(found.other_kind),
                            Named("coding") = static_cast<double>(found.coding),
                            Named("not_coding") = static_cast<double>(found.not_coding),
                            Named("has_posteriors") = found.has_posteriors,
                            Named("chromosomes") = as_data_frame(found.chromosomes),
                            Named("changes") = as_columns(found.changes),
                            Named("proteins") = as_columns(found.proteins));
}
