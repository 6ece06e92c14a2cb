#include "core/ancestry/variants/annotation.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

// list(history =, model =, outgroups =, samples =), the first two as rcpp_methods.h has them.
// `outgroups`: a data frame of chromosome (in the variants), name (in the file) and path, each
// chromosome's rows in the order of the history.
ancify::SampleHistory as_sample_history(const Rcpp::List& list) {
  const Rcpp::List history = list["history"];
  ancify::SampleHistory result = {as_history(history),
                                  as_mutation_model(history, list["model"]),
                                  {},
                                  Rcpp::as<std::vector<std::string>>(list["samples"])};
  const Rcpp::DataFrame outgroups = list["outgroups"];
  const auto chromosomes = Rcpp::as<std::vector<std::string>>(outgroups["chromosome"]);
  const auto names = Rcpp::as<std::vector<std::string>>(outgroups["name"]);
  const auto paths = Rcpp::as<std::vector<std::string>>(outgroups["path"]);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    result.outgroups[chromosomes[i]].push_back({names[i], paths[i]});
  }
  return result;
}

Rcpp::List as_list(const ancify::AnnotationReport& report) {
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

// Files of sequences and of errors are data frames of chromosome and path; `mask` may be "" and
// `history` NULL.
// [[Rcpp::export]]
Rcpp::List annotate_impl(const std::string& variants, const std::string& output,
                         const std::vector<std::string>& chromosomes,
                         const Rcpp::DataFrame& ancestral, const Rcpp::DataFrame& phred,
                         const Rcpp::DataFrame& reference, const std::string& mask, bool polarise,
                         const Rcpp::Nullable<Rcpp::List>& history, int threads,
                         const Rcpp::Function& watch) {
  ancify::AnnotationOptions options;
  options.variants = variants;
  options.output = output;
  options.chromosomes = chromosomes;
  options.ancestral = as_sequence_files(ancestral);
  options.phred = as_paths(phred);
  options.reference = as_sequence_files(reference);
  options.mask = mask;
  options.polarise = polarise;
  if (history.isNotNull()) {
    guarded([&] { options.history = as_sample_history(Rcpp::List(history)); });
  }
  options.threads = threads;
  ancify::AnnotationReport report;
  run_job(watch, [&](ancify::JobControl& control) {
    report = ancify::annotate_variants(options, control);
  });
  return as_list(report);
}
