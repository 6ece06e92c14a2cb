// Connects ancify_check() with the core.
#include <sys/stat.h>

#include <filesystem>

#include "core/ancestry/projection/preflight.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

namespace {

using Rcpp::Named;

Rcpp::List outgroup_list(const ancify::OutgroupPreflight& look) {
  const auto n = static_cast<R_xlen_t>(look.chromosomes.size());
  Rcpp::CharacterVector names(n);
  Rcpp::NumericVector blocks(n);
  Rcpp::NumericVector ends(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& seen = look.chromosomes[static_cast<std::size_t>(i)];
    names[i] = seen.name;
    blocks[i] = static_cast<double>(seen.blocks);
    ends[i] = static_cast<double>(seen.end);
  }
  const bool any_bad = !look.bad_examples.empty();
  return Rcpp::List::create(
      Named("problem") = look.problem,
      Named("problem_line") = static_cast<double>(look.problem_line), Named("whole") = look.whole,
      Named("chromosomes") = names, Named("blocks") = blocks, Named("ends") = ends,
      Named("secondary") = static_cast<double>(look.secondary),
      Named("bad") = static_cast<double>(look.bad),
      Named("bad_line") = any_bad ? static_cast<double>(look.bad_examples.front().line) : NA_REAL,
      Named("bad_problem") = any_bad ? look.bad_examples.front().problem : std::string(),
      Named("sites") = static_cast<double>(look.sites),
      Named("differ") = static_cast<double>(look.differ),
      Named("compared") = static_cast<double>(look.compared),
      Named("wrong") = static_cast<double>(look.wrong), Named("first_wrong") = look.first_wrong);
}

Rcpp::DataFrame focal_frame(const std::vector<ancify::FocalComparison>& pairs) {
  Rcpp::IntegerVector first;
  Rcpp::IntegerVector second;
  Rcpp::NumericVector sites;
  Rcpp::NumericVector differ;
  Rcpp::CharacterVector where;
  for (const auto& pair : pairs) {
    first.push_back(static_cast<int>(pair.first) + 1);
    second.push_back(static_cast<int>(pair.second) + 1);
    sites.push_back(static_cast<double>(pair.sites));
    differ.push_back(static_cast<double>(pair.differ));
    where.push_back(pair.first_difference);
  }
  return Rcpp::DataFrame::create(Named("first") = first, Named("second") = second,
                                 Named("sites") = sites, Named("differ") = differ,
                                 Named("where") = where, Named("stringsAsFactors") = false);
}

Rcpp::DataFrame divergence_frame(const std::vector<ancify::DivergenceComparison>& pairs) {
  Rcpp::IntegerVector inner;
  Rcpp::IntegerVector outer;
  Rcpp::NumericVector sites;
  Rcpp::NumericVector inner_differ;
  Rcpp::NumericVector outer_differ;
  Rcpp::NumericVector excess;
  for (const auto& pair : pairs) {
    inner.push_back(static_cast<int>(pair.inner) + 1);
    outer.push_back(static_cast<int>(pair.outer) + 1);
    sites.push_back(static_cast<double>(pair.sites));
    inner_differ.push_back(static_cast<double>(pair.inner_differ));
    outer_differ.push_back(static_cast<double>(pair.outer_differ));
    excess.push_back(pair.excess);
  }
  return Rcpp::DataFrame::create(Named("inner") = inner, Named("outer") = outer,
                                 Named("sites") = sites, Named("inner_differ") = inner_differ,
                                 Named("outer_differ") = outer_differ, Named("excess") = excess);
}

}  // namespace

// Reads the start of the text of the outgroups' alignments, and returns the findings.
// [[Rcpp::export]]
Rcpp::List look_at_alignments_impl(const Rcpp::List& alignments, const Rcpp::List& reading,
                                   bool brief, const Rcpp::Function& watch) {
  const auto how = as_reading(reading);
  ancify::PreflightOptions options;
  options.projection = how.options;
  options.brief = brief;
  options.focal_fasta = how.focal_fasta;
  std::vector<ancify::PreflightOutgroup> outgroups;
  for (const auto& row : as_alignments(alignments)) {
    outgroups.push_back({row.file, row.name_in_file, row.inner});
  }
  ancify::Preflight result;
  run_job(watch, [&](ancify::JobControl& control) {
    result = ancify::look_at_alignments(outgroups, how.chromosomes, options, how.threads, control);
  });
  return Rcpp::List::create(Named("outgroups") = Rcpp::List(result.outgroups.begin(),
                                                            result.outgroups.end(), outgroup_list),
                            Named("focal") = focal_frame(result.focal),
                            Named("divergence") = divergence_frame(result.divergence),
                            Named("fasta_problem") = result.fasta_problem);
}

// For each folder, the number that identifies its file system, and the free bytes.
// [[Rcpp::export]]
Rcpp::DataFrame file_systems_impl(const std::vector<std::string>& folders) {
  Rcpp::NumericVector numbers;
  Rcpp::NumericVector available;
  for (const auto& folder : folders) {
    struct stat status = {};
    const bool known = stat(folder.c_str(), &status) == 0;
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    numbers.push_back(known ? static_cast<double>(status.st_dev) : NA_REAL);
    available.push_back(error ? NA_REAL : static_cast<double>(space.available));
  }
  return Rcpp::DataFrame::create(Named("number") = numbers, Named("available") = available);
}
