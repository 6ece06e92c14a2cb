#include "core/ancestry/annotation.h"
#include "rcpp_glue.h"

namespace {

// Of a data frame of chromosome and path.
std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files) {
  const auto chromosomes = Rcpp::as<std::vector<std::string>>(files["chromosome"]);
  const auto paths = Rcpp::as<std::vector<std::string>>(files["path"]);
  std::vector<ancify::SequenceFile> result;
  for (std::size_t i = 0; i < paths.size(); ++i) result.push_back({chromosomes[i], paths[i]});
  return result;
}

Rcpp::List as_list(const ancify::AnnotationReport& report) {
  using Rcpp::Named;
  Rcpp::NumericVector reasons(report.reasons.begin(), report.reasons.end());
  reasons.names() = Rcpp::CharacterVector(ancify::kReasonNames.begin(), ancify::kReasonNames.end());
  Rcpp::CharacterVector names;
  Rcpp::CharacterVector sequences;
  Rcpp::NumericVector records;
  for (const auto& chromosome : report.chromosomes) {
    names.push_back(chromosome.name);
    if (chromosome.sequence.empty()) {
      sequences.push_back(NA_STRING);
    } else {
      sequences.push_back(chromosome.sequence);
    }
    records.push_back(static_cast<double>(chromosome.records));
  }
  return Rcpp::List::create(Named("reasons") = reasons,
                            Named("chromosomes") = Rcpp::DataFrame::create(
                                Named("chromosome") = names, Named("sequence") = sequences,
                                Named("records") = records, Named("stringsAsFactors") = false));
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
  for (const auto& [chromosome, path] : as_sequence_files(phred)) options.phred[chromosome] = path;
  options.reference = as_sequence_files(reference);
  options.mask = mask;
  options.threads = threads;
  ancify::AnnotationReport report;
  run_job(watch, [&](ancify::JobControl& control) {
    report = ancify::annotate_variants(options, control);
  });
  return as_list(report);
}
