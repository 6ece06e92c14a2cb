// Connects annotate_vcf(), and other functions that read variant records, with the core.
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
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

struct OutgroupColumns {
  std::vector<std::string> chromosome;
  std::vector<std::string> name;
  std::vector<std::string> path;
};

// The samples to count: by names, all without any, or by fields of INFO; "" for none.
struct CountedSamples {
  std::vector<std::string> names;
  std::string copies;
  std::string called;

  std::optional<ancify::CountFields> fields() const {
    if (copies.empty()) return std::nullopt;
    return ancify::CountFields{copies, called};
  }
};

struct SampleHistoryFields {
  Rcpp::List history;
  Rcpp::List model;
  ancify::OutgroupFiles outgroups;
  CountedSamples samples;
};

struct IndelFields {
  std::vector<AlignmentRow> alignments;
  Reading reading;
  Rcpp::List method;
};

struct ScoreColumns {
  Rcpp::NumericVector position;  // from 1, increasing
  Rcpp::IntegerVector ancestral;
  Rcpp::IntegerVector derived;
  Rcpp::NumericVector score;
  Rcpp::CharacterVector transcript;
};

struct AnnotationFields {
  ancify::AnnotationOptions options;
  std::optional<IndelFields> indel_sources;
};

}  // namespace

template <>
struct Fields<OutgroupColumns> {
  using All = OutgroupColumns;
  static constexpr auto table = fields("OutgroupFiles", field("chromosome", &All::chromosome),
                                       field("name", &All::name), field("path", &All::path));
};

namespace {

// Takes a data frame of chromosome (its name in the variants), name (in the file) and path. Each
// chromosome's rows are in the order of the history.
ancify::OutgroupFiles as_outgroup_files(const Rcpp::DataFrame& outgroups) {
  ancify::OutgroupFiles result;
  const auto [chromosomes, names, paths] = from_list<OutgroupColumns>(outgroups);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    result[chromosomes[i]].push_back({names[i], paths[i]});
  }
  return result;
}

}  // namespace

template <>
struct Fields<CountedSamples> {
  using All = CountedSamples;
  static constexpr auto table =
      fields("CountedSamples", field("names", &All::names), field("copies", &All::copies),
             field("called", &All::called));
};

template <>
struct Fields<SampleHistoryFields> {
  using All = SampleHistoryFields;
  static constexpr auto table = fields(
      "SampleHistory", field("history", &All::history), field("model", &All::model),
      field("outgroups", &All::outgroups, as_outgroup_files), field("samples", &All::samples));
};

template <>
struct Fields<IndelFields> {
  using All = IndelFields;
  static constexpr auto table =
      fields("IndelSources", field("alignments", &All::alignments, as_alignments),
             field("reading", &All::reading, as_reading), field("method", &All::method));
};

template <>
struct Fields<ancify::CallsAtRecords> {
  using All = ancify::CallsAtRecords;
  static constexpr auto table =
      fields("CallsAtRecords", field("patterns", &All::patterns), field("calls", &All::calls),
             field("posteriors", &All::posteriors));
};

template <>
struct Fields<ScoreColumns> {
  using All = ScoreColumns;
  static constexpr auto table =
      fields("RecordScores", field("position", &All::position), field("ancestral", &All::ancestral),
             field("derived", &All::derived), field("score", &All::score),
             field("transcript", &All::transcript));
};

namespace {

// `history` and `model` are as in rcpp_methods.h. NULL means no history.
std::optional<ancify::SampleHistory> as_sample_history(std::optional<SampleHistoryFields> given) {
  if (!given) return std::nullopt;
  return ancify::SampleHistory{as_history(given->history),
                               as_mutation_models(given->history, given->model), given->outgroups,
                               given->samples.names, given->samples.fields()};
}

// The sources of the states of indels.
struct IndelSources {
  IndelSources(const IndelFields& from, const ancify::AnnotationOptions& annotation)
      : reading(from.reading) {
    guarded([&] { method = ancify::make_method(as_method_options(from.method)); });
    for (const auto& row : from.alignments) {
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

// Takes a list by chromosome of lists for ScoreColumns, or NULL for none.
std::optional<ancify::ScoresByChromosome> as_scores(const std::optional<Rcpp::List>& given) {
  if (!given) return std::nullopt;
  const Rcpp::List& list = *given;
  ancify::ScoresByChromosome scores;
  const auto names = Rcpp::as<std::vector<std::string>>(list.names());
  for (R_xlen_t c = 0; c < list.size(); ++c) {
    const auto [position, ancestral, derived, score, transcript] = from_list<ScoreColumns>(list[c]);
    std::vector<ancify::RecordScore>& here = scores[names[static_cast<std::size_t>(c)]];
    for (R_xlen_t i = 0; i < position.size(); ++i) {
      here.push_back({as_integer<std::int64_t>(position[i]), ancestral[i], derived[i],
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
      Named("not_polarised") = static_cast<double>(report.not_polarised),
      Named("dropped") = Rcpp::DataFrame::create(
          Named("field") = fields, Named("records") = dropped, Named("stringsAsFactors") = false));
}

ancify::Unpolarised as_unpolarised(const std::string& name) {
  using ancify::Unpolarised;
  return choice<Unpolarised>(
      name,
      {{"keep", Unpolarised::kKeep}, {"flag", Unpolarised::kFlag}, {"drop", Unpolarised::kDrop}});
}

}  // namespace

template <>
struct Fields<AnnotationFields> {
  using All = AnnotationFields;
  using Options = ancify::AnnotationOptions;
  static constexpr auto table =
      fields("AnnotationOptions", field("use_info", within(&All::options, &Options::use_info)),
             field("mask", within(&All::options, &Options::mask)),
             field("polarise", within(&All::options, &Options::polarise)),
             field("keep_fields", within(&All::options, &Options::keep_fields)),
             field("history", within(&All::options, &Options::history), as_sample_history),
             field("scores", within(&All::options, &Options::scores), as_scores),
             field("record_calls", within(&All::options, &Options::record_calls)),
             field("unpolarised", within(&All::options, &Options::unpolarised), as_unpolarised),
             field("multiallelic", within(&All::options, &Options::multiallelic)),
             field("indels", within(&All::options, &Options::indels)),
             field("indel_sources", &All::indel_sources),
             field("work", within(&All::options, &Options::threads), threads_of));
};

// [[Rcpp::export]]
std::vector<std::string> variant_chromosomes_impl(const std::string& path,
                                                  const Rcpp::Function& watch) {
  std::vector<std::string> names;
  run_job(watch,
          [&](ancify::JobControl& control) { names = ancify::variant_chromosomes(path, control); });
  return names;
}

// Annotates the records of `variants` in `output`. `sequences` is for take_sequences(), `options`
// for AnnotationFields.
// [[Rcpp::export]]
Rcpp::List annotate_impl(const std::string& variants, const std::string& output,
                         const Rcpp::List& sequences, const Rcpp::List& options,
                         const Rcpp::Function& watch) {
  AnnotationFields given;
  guarded([&] { given = from_list<AnnotationFields>(options); });
  ancify::AnnotationOptions& wanted = given.options;
  wanted.variants = variants;
  wanted.output = output;
  take_sequences(sequences, wanted);
  std::optional<IndelSources> sources;
  if (given.indel_sources) sources.emplace(*given.indel_sources, wanted);
  ancify::AnnotationReport report;
  run_job(watch, [&](ancify::JobControl& control) {
    if (sources) wanted.indel_state = sources->read(control);
    report = ancify::annotate_variants(wanted, control);
  });
  return as_facts(report);
}

// The records with an ancestral allele in INFO. `ref_is_ancestral` is a probability.
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

// The positions of the records. `single` tells whether all alleles are single bases.
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
// allele, sites =), vectors with an element for each kind of site, and the counts records =,
// uncounted = and excluded =.
// [[Rcpp::export]]
Rcpp::List count_variants_impl(const std::string& path, const Rcpp::DataFrame& outgroups,
                               const Rcpp::List& samples, const Rcpp::Function& watch) {
  const auto counted = from_list<CountedSamples>(samples);
  const ancify::VariantCountOptions options = {path, as_outgroup_files(outgroups), counted.names,
                                               counted.fields()};
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
      Rcpp::Named("uncounted") = static_cast<double>(counts.uncounted),
      Rcpp::Named("excluded") = static_cast<double>(counts.excluded));
}
