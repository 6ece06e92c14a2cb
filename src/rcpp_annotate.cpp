// Connects annotate_vcf(), and what else reads the records of variants, with the core.
#include <algorithm>
#include <memory>
#include <optional>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/indels/indel_states.h"
#include "core/ancestry/projection/focal_genome.h"
#include "core/ancestry/variants/ancestral_info.h"
#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/variant_counts.h"
#include "core/ancestry/variants/variant_places.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

// Takes a data frame of chromosome (its name in the variants), name (in the file) and path. Each
// chromosome's rows are in the order of the history.
ancify::OutgroupFiles as_outgroup_files(const Rcpp::DataFrame& outgroups) {
  ancify::OutgroupFiles result;
  const auto chromosomes = Rcpp::as<std::vector<std::string>>(outgroups["chromosome"]);
  const auto names = Rcpp::as<std::vector<std::string>>(outgroups["name"]);
  const auto paths = Rcpp::as<std::vector<std::string>>(outgroups["path"]);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    result[chromosomes[i]].push_back({names[i], paths[i]});
  }
  return result;
}

// Takes list(history =, model =, outgroups = for as_outgroup_files(), samples =). `history` and
// `model` are as in rcpp_methods.h.
ancify::SampleHistory as_sample_history(const Rcpp::List& list) {
  const Rcpp::List history = list["history"];
  return {as_history(history), as_mutation_models(history, list["model"]),
          as_outgroup_files(list["outgroups"]),
          Rcpp::as<std::vector<std::string>>(list["samples"])};
}

// How to find the states of indels, from list(alignments = for as_alignments(), reading = for
// as_reading(), method = for as_method_options()).
struct IndelSources {
  IndelSources(const Rcpp::List& list, const ancify::AnnotationOptions& annotation)
      : reading(as_reading(list["reading"])) {
    guarded([&] { method = ancify::make_method(as_method_options(list["method"])); });
    for (const auto& row : as_alignments(list["alignments"])) {
      options.outgroups.push_back({row.file, row.name_in_file});
    }
    options.variants = annotation.variants;
    options.variant_chromosomes = annotation.chromosomes;
    options.reference = annotation.reference;
    options.chromosomes = reading.chromosomes;
    options.projection = reading.options;
    options.threads = reading.threads;
  }

  // Reads the alignments. This must outlive the result.
  ancify::AlleleStateOf read(ancify::JobControl& control) {
    const auto& [chromosomes, how, focal_folder, focal_fasta, threads] = reading;
    if (!focal_fasta.empty()) {
      focal.emplace(chromosomes, how.simd);
      ancify::focal_from_fasta(focal_fasta, chromosomes, how.aliases, *focal, threads, control);
      options.projection.open_focal = ancify::focal_in(*focal);
    }
    states.emplace(options, *method, control);
    focal.reset();
    return [this](const ancify::VariantReader& reader, const std::string& reference) {
      return states->at(reader, reference);
    };
  }

  Reading reading;
  std::unique_ptr<const ancify::Method> method;
  ancify::IndelOptions options;
  std::optional<ancify::PackedStore> focal;
  std::optional<ancify::IndelStates> states;
};

// Takes a list by chromosome of list(position = from 1 and rising, ancestral = and derived = base
// codes, score =, transcript =).
ancify::ScoresByChromosome as_scores(const Rcpp::List& list) {
  ancify::ScoresByChromosome scores;
  const auto names = Rcpp::as<std::vector<std::string>>(list.names());
  for (R_xlen_t c = 0; c < list.size(); ++c) {
    const Rcpp::List of_chromosome = list[c];
    const Rcpp::NumericVector position = of_chromosome["position"];
    const Rcpp::IntegerVector ancestral = of_chromosome["ancestral"];
    const Rcpp::IntegerVector derived = of_chromosome["derived"];
    const Rcpp::NumericVector score = of_chromosome["score"];
    const Rcpp::CharacterVector transcript = of_chromosome["transcript"];
    std::vector<ancify::RecordScore>& here = scores[names[static_cast<std::size_t>(c)]];
    for (R_xlen_t i = 0; i < position.size(); ++i) {
      here.push_back({static_cast<std::int64_t>(position[i]), ancestral[i], derived[i],
                      static_cast<float>(score[i]), Rcpp::as<std::string>(transcript[i])});
    }
  }
  return scores;
}

Rcpp::List as_facts(const ancify::AnnotationReport& report) {
  using Rcpp::Named;
  Rcpp::CharacterVector fields;
  Rcpp::NumericVector dropped;
  for (const auto& [field, count] : report.dropped) {
    fields.push_back(field);
    dropped.push_back(static_cast<double>(count));
  }
  return Rcpp::List::create(
      Named("reasons") = reasons_of(report.chromosomes),
      Named("chromosomes") = as_data_frame(report.chromosomes),
      Named("posteriors") = static_cast<double>(report.posteriors),
      Named("counted") = static_cast<double>(report.counted),
      Named("letters") = as_data_frame(report.letters),
      Named("scored") = static_cast<double>(report.scored),
      Named("swapped") = static_cast<double>(report.swapped),
      Named("dropped") = Rcpp::DataFrame::create(
          Named("field") = fields, Named("records") = dropped, Named("stringsAsFactors") = false));
}

}  // namespace

// [[Rcpp::export]]
std::vector<std::string> variant_chromosomes_impl(const std::string& path,
                                                  const Rcpp::Function& watch) {
  std::vector<std::string> names;
  run_job(watch,
          [&](ancify::JobControl& control) { names = ancify::variant_chromosomes(path, control); });
  return names;
}

// Annotates the records of `variants` in `output`. `sequences` is for take_sequences(). `options`:
// list(use_info = whether INFO has the ancestral alleles, mask = a path or "", polarise =,
// keep_fields =, history = for as_sample_history() or NULL, scores = for as_scores() or NULL,
// threads =, multiallelic = and indels =
// whether these have ancestral alleles too, indel_sources = for IndelSources or NULL).
// [[Rcpp::export]]
Rcpp::List annotate_impl(const std::string& variants, const std::string& output,
                         const Rcpp::List& sequences, const Rcpp::List& options,
                         const Rcpp::Function& watch) {
  ancify::AnnotationOptions wanted;
  wanted.variants = variants;
  wanted.output = output;
  take_sequences(sequences, wanted);
  wanted.use_info = Rcpp::as<bool>(options["use_info"]);
  wanted.mask = Rcpp::as<std::string>(options["mask"]);
  wanted.polarise = Rcpp::as<bool>(options["polarise"]);
  wanted.keep_fields = Rcpp::as<std::vector<std::string>>(options["keep_fields"]);
  if (!Rf_isNull(options["history"])) {
    guarded([&] { wanted.history = as_sample_history(options["history"]); });
  }
  if (!Rf_isNull(options["scores"])) wanted.scores = as_scores(options["scores"]);
  wanted.multiallelic = Rcpp::as<bool>(options["multiallelic"]);
  wanted.indels = Rcpp::as<bool>(options["indels"]);
  std::optional<IndelSources> sources;
  if (!Rf_isNull(options["indel_sources"])) sources.emplace(options["indel_sources"], wanted);
  wanted.threads = Rcpp::as<int>(options["threads"]);
  ancify::AnnotationReport report;
  run_job(watch, [&](ancify::JobControl& control) {
    if (sources) wanted.indel_state = sources->read(control);
    report = ancify::annotate_variants(wanted, control);
  });
  return as_facts(report);
}

// The records that have an ancestral allele in INFO. `ref_is_ancestral` is a probability.
// [[Rcpp::export]]
Rcpp::DataFrame ancestral_records_impl(const std::string& path, const Rcpp::Function& watch) {
  using Rcpp::Named;
  std::vector<ancify::AncestralRecord> records;
  run_job(watch, [&](ancify::JobControl& control) {
    records = ancify::read_ancestral_records(path, control);
  });
  const auto n = static_cast<R_xlen_t>(records.size());
  Rcpp::CharacterVector chromosomes(n);
  Rcpp::CharacterVector ref(n);
  Rcpp::CharacterVector alt(n);
  Rcpp::NumericVector positions(n);
  Rcpp::NumericVector probabilities(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& record = records[static_cast<std::size_t>(i)];
    chromosomes[i] = record.chromosome;
    positions[i] = static_cast<double>(record.position);
    ref[i] = std::string(1, record.ref);
    alt[i] = std::string(1, record.alt);
    probabilities[i] = record.ref_is_ancestral;
  }
  return Rcpp::DataFrame::create(Named("chromosome") = chromosomes, Named("position") = positions,
                                 Named("ref") = ref, Named("alt") = alt,
                                 Named("ref_is_ancestral") = probabilities,
                                 Named("stringsAsFactors") = false);
}

// Where the records are. `single`: whether all alleles are single bases.
// [[Rcpp::export]]
Rcpp::DataFrame variant_places_impl(const std::string& path, const Rcpp::Function& watch) {
  using Rcpp::Named;
  ancify::VariantPlaces places;
  run_job(watch, [&](ancify::JobControl& control) {
    places = ancify::read_variant_places(path, control);
  });
  const Rcpp::CharacterVector names(places.chromosomes.begin(), places.chromosomes.end());
  Rcpp::CharacterVector chromosomes(static_cast<R_xlen_t>(places.chromosome.size()));
  for (R_xlen_t i = 0; i < chromosomes.size(); ++i) {
    chromosomes[i] = names[places.chromosome[static_cast<std::size_t>(i)]];
  }
  return Rcpp::DataFrame::create(
      Named("chromosome") = chromosomes,
      Named("position") = Rcpp::NumericVector(places.position.begin(), places.position.end()),
      Named("single") = Rcpp::LogicalVector(places.single.begin(), places.single.end()),
      Named("stringsAsFactors") = false);
}

// Returns list(pattern =, first =, second = base codes, haplotypes =, copies = of the second
// allele, sites =), vectors with an element a kind of site, and records = and uncounted =, numbers.
// [[Rcpp::export]]
Rcpp::List count_variants_impl(const std::string& path, const Rcpp::DataFrame& outgroups,
                               const std::vector<std::string>& samples,
                               const Rcpp::Function& watch) {
  const ancify::VariantCountOptions options = {path, as_outgroup_files(outgroups), samples};
  ancify::CountedVariants counts;
  guarded([&] {
    run_job(watch, [&](ancify::JobControl& control) {
      counts = ancify::count_variants(options, control);
    });
  });
  const auto column = [&](const auto& value) {
    Rcpp::NumericVector result(static_cast<R_xlen_t>(counts.kinds.size()));
    std::transform(counts.kinds.begin(), counts.kinds.end(), result.begin(), value);
    return result;
  };
  using Row = ancify::CountedVariants::Kind;
  return Rcpp::List::create(
      Rcpp::Named("chromosomes") = counts.chromosomes,
      Rcpp::Named("chromosome") = column([](const Row& row) { return row.chromosome; }),
      Rcpp::Named("pattern") = column([](const Row& row) { return row.site.pattern; }),
      Rcpp::Named("first") = column([](const Row& row) { return row.site.alleles[0]; }),
      Rcpp::Named("second") = column([](const Row& row) { return row.site.alleles[1]; }),
      Rcpp::Named("haplotypes") = column([](const Row& row) { return row.site.haplotypes; }),
      Rcpp::Named("copies") = column([](const Row& row) { return *row.site.copies; }),
      Rcpp::Named("sites") = column([](const Row& row) { return row.count; }),
      Rcpp::Named("records") = static_cast<double>(counts.records),
      Rcpp::Named("uncounted") = static_cast<double>(counts.uncounted));
}
