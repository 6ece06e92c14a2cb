#include "core/ancestry/annotation.h"
#include "rcpp_glue.h"

namespace {

Rcpp::List as_list(const ancify::AnnotationReport& report) {
  using Rcpp::Named;
  Rcpp::NumericVector reasons(report.reasons.begin(), report.reasons.end());
  reasons.names() = Rcpp::CharacterVector(ancify::kReasonNames.begin(), ancify::kReasonNames.end());
  return Rcpp::List::create(Named("reasons") = reasons,
                            Named("chromosomes") = as_data_frame(report.chromosomes));
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

// Files of sequences and of errors are data frames of chromosome and path; `mask` may be "".
// [[Rcpp::export]]
Rcpp::List annotate_impl(const std::string& variants, const std::string& output,
                         const std::vector<std::string>& chromosomes,
                         const Rcpp::DataFrame& ancestral, const Rcpp::DataFrame& phred,
                         const Rcpp::DataFrame& reference, const std::string& mask, int threads,
                         const Rcpp::Function& watch) {
  ancify::AnnotationOptions options;
  options.variants = variants;
  options.output = output;
  options.chromosomes = chromosomes;
  options.ancestral = as_sequence_files(ancestral);
  options.phred = as_paths(phred);
  options.reference = as_sequence_files(reference);
  options.mask = mask;
  options.threads = threads;
  ancify::AnnotationReport report;
  run_job(watch, [&](ancify::JobControl& control) {
    report = ancify::annotate_variants(options, control);
  });
  return as_list(report);
}
