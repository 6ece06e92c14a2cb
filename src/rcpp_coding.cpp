// Connects coding changes with the core.
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/coding/coding_changes.h"
#include "core/exec/errors.h"
#include "core/formats/interval/gff.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_spectra.h"

namespace {

// Converts a number of R to an integer from `least` to `most`; InputError for any other number.
std::int64_t as_whole(double value, std::int64_t least, std::int64_t most, const char* what) {
  const auto whole = as_integer<std::int64_t>(value);
  if (static_cast<double>(whole) == value && whole >= least && whole <= most) return whole;
  throw ancify::InputError(std::string("the ") + what + " of a coding part is out of range");
}

// The genes of a chromosome.
struct GeneColumns {
  // For each coding part, in the direction of translation.
  Rcpp::IntegerVector transcript;  // from 0
  Rcpp::NumericVector start;       // from 1
  Rcpp::NumericVector end;
  // For each transcript.
  Rcpp::LogicalVector forward;
  Rcpp::IntegerVector phase;  // NA if unknown
  Rcpp::LogicalVector open_start;
  Rcpp::IntegerVector code;  // from 0, NA for none
};

}  // namespace

template <>
struct Fields<GeneColumns> {
  using All = GeneColumns;
  static constexpr auto table =
      fields("Genes", field("transcript", &All::transcript), field("start", &All::start),
             field("end", &All::end), field("forward", &All::forward), field("phase", &All::phase),
             field("open_start", &All::open_start), field("code", &All::code));
};

namespace {

// `genes` is a list by chromosome of lists for GeneColumns.
std::unordered_map<std::string, std::vector<ancify::Transcript>> as_transcripts(
    const Rcpp::List& genes) {
  std::unordered_map<std::string, std::vector<ancify::Transcript>> transcripts;
  if (genes.size() == 0) return transcripts;
  const auto names = Rcpp::as<std::vector<std::string>>(genes.names());
  for (R_xlen_t c = 0; c < genes.size(); ++c) {
    const auto [transcript, start, end, forward, phase, open_start, code] =
        from_list<GeneColumns>(genes[c]);
    std::vector<ancify::Transcript>& models = transcripts[names[static_cast<std::size_t>(c)]];
    for (R_xlen_t t = 0; t < forward.size(); ++t) {
      ancify::Transcript model;
      model.forward = forward[t] != 0;
      model.phase_is_known = phase[t] != NA_INTEGER;
      model.phase = model.phase_is_known ? phase[t] : 0;
      model.open_start = open_start[t] == TRUE;
      model.genetic_code = code[t] == NA_INTEGER ? ancify::kNoGeneticCode : code[t];
      models.push_back(std::move(model));
    }
    const std::int64_t last = static_cast<std::int64_t>(models.size()) - 1;
    for (R_xlen_t i = 0; i < transcript.size(); ++i) {
      const auto of = static_cast<std::size_t>(as_whole(transcript[i], 0, last, "transcript"));
      models[of].parts.push_back({as_whole(start[i], 1, ancify::kLastPosition, "start") - 1,
                                  as_whole(end[i], 1, ancify::kLastPosition, "end")});
    }
  }
  return transcripts;
}

// A text for each of `parts`, whose index is `field`; NA without one. `texts` holds the texts of
// all indices.
Rcpp::CharacterVector as_names(const std::vector<ancify::GffPart>& parts,
                               std::uint32_t ancify::GffPart::*field,
                               const Rcpp::CharacterVector& texts) {
  const auto n = static_cast<R_xlen_t>(parts.size());
  Rcpp::CharacterVector names(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const std::uint32_t name = parts[static_cast<std::size_t>(i)].*field;
    SET_STRING_ELT(
        names, i,
        name == ancify::kNoName ? NA_STRING : STRING_ELT(texts, static_cast<R_xlen_t>(name)));
  }
  return names;
}

// Columns with a row for each change. Indices count from 1.
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
    codon[i] = change.codon < 0 ? NA_INTEGER : static_cast<int>(change.codon) + 1;
    place[i] = change.place + 1;
    ancestral[i] = change.ancestral + 1;
    derived[i] = change.derived + 1;
    posterior[i] = change.posterior;
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

// The coding parts of a GFF3 or GTF file: list(chromosome =, start =, end =, strand =, phase =,
// transcript =, gene =, id =, code =, open_start =, with an element for each part and transcript;
// owners = list(id =, gene =); tags = list(owner =, tag =)). Unknown values are NA. `tags` holds
// values of the attribute `tag` to look for.
// [[Rcpp::export]]
Rcpp::List read_gff_impl(const std::string& path, const std::vector<std::string>& tags,
                         const Rcpp::Function& watch) {
  using Rcpp::Named;
  ancify::GffGenes genes;
  run_job(watch, [&](ancify::JobControl& control) {
    genes = ancify::read_gff(path, tags, ancify::TaskContext(control));
  });
  const auto& all_texts = genes.names.texts();
  const Rcpp::CharacterVector texts =
      as_texts(std::vector<std::string>(all_texts.begin(), all_texts.end()));
  const auto n = static_cast<R_xlen_t>(genes.parts.size());
  Rcpp::IntegerVector start(n);
  Rcpp::IntegerVector end(n);
  Rcpp::CharacterVector strand(n);
  Rcpp::IntegerVector phase(n);
  Rcpp::IntegerVector code(n);
  Rcpp::LogicalVector open_start(n);
  const Rcpp::CharacterVector strands = Rcpp::CharacterVector::create("-", "+");
  for (R_xlen_t i = 0; i < n; ++i) {
    const ancify::GffPart& part = genes.parts[static_cast<std::size_t>(i)];
    start[i] = part.start;
    end[i] = part.end;
    SET_STRING_ELT(strand, i, STRING_ELT(strands, part.forward ? 1 : 0));
    phase[i] = part.phase == ancify::kUnknownPhase ? NA_INTEGER : part.phase;
    code[i] = part.genetic_code == 0 ? NA_INTEGER : part.genetic_code;
    open_start[i] = static_cast<int>(part.open_start);
  }
  std::vector<std::string> owner;
  Rcpp::CharacterVector owner_gene(static_cast<R_xlen_t>(genes.transcripts.size()));
  std::vector<std::string> tagged;
  std::vector<std::string> tag;
  for (const auto& [number, transcript] : genes.transcripts) {
    owner_gene[static_cast<R_xlen_t>(owner.size())] =
        transcript.gene == ancify::kNoName ? NA_STRING : STRING_ELT(texts, transcript.gene);
    owner.push_back(all_texts[number]);
    for (std::size_t t = 0; t < tags.size(); ++t) {
      if ((transcript.tags >> t & 1U) == 0) continue;
      tagged.push_back(all_texts[number]);
      tag.push_back(tags[t]);
    }
  }
  return Rcpp::List::create(
      Named("chromosome") = as_names(genes.parts, &ancify::GffPart::chromosome, texts),
      Named("start") = start, Named("end") = end, Named("strand") = strand, Named("phase") = phase,
      Named("transcript") = as_names(genes.parts, &ancify::GffPart::transcript, texts),
      Named("gene") = as_names(genes.parts, &ancify::GffPart::gene, texts),
      Named("id") = as_names(genes.parts, &ancify::GffPart::id, texts), Named("code") = code,
      Named("open_start") = open_start,
      Named("owners") =
          Rcpp::List::create(Named("id") = as_texts(owner), Named("gene") = owner_gene),
      Named("tags") =
          Rcpp::List::create(Named("owner") = as_texts(tagged), Named("tag") = as_texts(tag)));
}

namespace {

// A number of each change (row) in each population (column).
Rcpp::IntegerMatrix by_population(const ancify::CodingChanges& found,
                                  int ancify::AlleleCount::*number) {
  const auto n = static_cast<int>(found.changes.size());
  const int populations = n == 0 ? 0 : static_cast<int>(found.counts.size()) / n;
  Rcpp::IntegerMatrix result(n, populations);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < populations; ++k) {
      result(i, k) = found.counts[static_cast<std::size_t>(i) * populations + k].*number;
    }
  }
  return result;
}

ancify::Background as_background(bool focal) {
  return focal ? ancify::Background::kFocal : ancify::Background::kAncestral;
}

}  // namespace

template <>
struct Fields<ancify::CodingOptions> {
  using All = ancify::CodingOptions;
  static constexpr auto table =
      fields("CodingOptions", field("variants", &All::variants), field("use_info", &All::use_info),
             field("low_confidence", &All::low_confidence), field("mask", &All::mask),
             field("focal", &All::background, as_background),
             field("work", &All::threads, threads_of), field("genetic_codes", &All::genetic_codes));
};

// Finds the coding changes made by the sites of a file of variants. `counts` and `sequences` are as
// in tabulate_variants_impl(), `genes` as for as_transcripts(). `options`: list(use_info =,
// low_confidence =, mask = a path or "", focal = whether codons are the focal genome's,
// genetic_codes = 64 residues of each, work =). Of the result, `called` and `copies` have a row for
// each change and a column for each population.
// [[Rcpp::export]]
Rcpp::List coding_changes_impl(const Rcpp::List& counts, const Rcpp::List& genes,
                               const Rcpp::List& sequences, const Rcpp::List& options,
                               const Rcpp::Function& watch) {
  using Rcpp::Named;
  auto wanted = from_list<ancify::CodingOptions>(options);
  wanted.needs_counts = false;
  take_counts(counts, wanted);
  take_sequences(sequences, wanted);
  guarded([&] { wanted.transcripts = as_transcripts(genes); });
  ancify::CodingChanges found;
  run_job(watch,
          [&](ancify::JobControl& control) { found = ancify::coding_changes(wanted, control); });
  return Rcpp::List::create(
      Named("reasons") = reasons_of(found.chromosomes),
      Named("monomorphic") = static_cast<double>(found.monomorphic),
      Named("other_kind") = static_cast<double>(found.other_kind),
      Named("without_counts") = static_cast<double>(found.without_counts),
      Named("impossible_counts") = static_cast<double>(found.impossible_counts),
      Named("coding") = static_cast<double>(found.coding),
      Named("not_coding") = static_cast<double>(found.not_coding),
      Named("has_posteriors") = found.has_posteriors,
      Named("chromosomes") = as_data_frame(found.chromosomes),
      Named("changes") = as_columns(found.changes),
      Named("called") = by_population(found, &ancify::AlleleCount::called),
      Named("copies") = by_population(found, &ancify::AlleleCount::derived),
      Named("proteins") = as_columns(found.proteins));
}
