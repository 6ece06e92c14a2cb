// Connects the core's site patterns at a VCF's records, from samples and from alignments.
#include <memory>
#include <optional>

#include "core/ancestry/calling/count_alignments.h"
#include "core/ancestry/projection/focal_genome.h"
#include "core/ancestry/variants/record_patterns.h"
#include "core/ancestry/variants/sample_patterns.h"
#include "core/genome/sequence_store.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

struct OutgroupSampleColumns {
  std::vector<std::string> path;
  Rcpp::List samples;  // names, for each path
};

// list(pattern =, alleles =, counts =, n =, count =). Alleles and counts are NA where the focal
// species has no two alleles, and counts also where they are unknown.
Rcpp::List as_list(const std::vector<ancify::RecordPattern>& all) {
  using Rcpp::Named;
  const auto n = static_cast<R_xlen_t>(all.size());
  Rcpp::CharacterVector patterns(n);
  Rcpp::CharacterVector alleles(n, NA_STRING);
  Rcpp::NumericVector copies(n, NA_REAL);
  Rcpp::NumericVector haplotypes(n, NA_REAL);
  Rcpp::NumericVector sites(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const ancify::RecordPattern& pattern = all[static_cast<std::size_t>(i)];
    patterns[i] = pattern.bases;
    sites[i] = static_cast<double>(pattern.sites);
    if (!pattern.polymorphism) continue;
    const auto& [first, second] = pattern.polymorphism->alleles;
    alleles[i] = std::string{ancify::upper_base(first), '/', ancify::upper_base(second)};
    haplotypes[i] = pattern.polymorphism->haplotypes;
    if (pattern.polymorphism->copies) copies[i] = *pattern.polymorphism->copies;
  }
  return Rcpp::List::create(Named("pattern") = patterns, Named("alleles") = alleles,
                            Named("counts") = copies, Named("n") = haplotypes,
                            Named("count") = sites);
}

// The lengths of chromosomes with records, by name; 0 for undeclared ones.
Rcpp::NumericVector lengths_of(const ancify::RecordPatterns& records) {
  Rcpp::NumericVector lengths;
  for (const auto& [name, length] : records.chromosomes()) {
    lengths.push_back(static_cast<double>(length), name);
  }
  return lengths;
}

}  // namespace

template <>
struct Fields<OutgroupSampleColumns> {
  using All = OutgroupSampleColumns;
  static constexpr auto table =
      fields("OutgroupSamples", field("path", &All::path), field("samples", &All::samples));
};

// The sites of a VCF: a pointer for take_alignments_impl() and annotate_impl(), and the lengths of
// chromosomes with records, by name. `outgroups` is a number.
// [[Rcpp::export]]
Rcpp::List record_sites_impl(const std::string& variants, int outgroups,
                             const Rcpp::Function& watch) {
  std::unique_ptr<ancify::RecordPatterns> found;
  run_job(watch, [&](ancify::JobControl& control) {
    found = std::make_unique<ancify::RecordPatterns>(variants, static_cast<std::size_t>(outgroups),
                                                     control);
  });
  const Rcpp::NumericVector lengths = lengths_of(*found);
  return Rcpp::List::create(
      Rcpp::Named("pointer") = Rcpp::XPtr<ancify::RecordPatterns>(found.release()),
      Rcpp::Named("lengths") = lengths);
}

// Reads alignments once, for the patterns at `records`, a pointer from record_sites_impl(). Returns
// these as as_list() does, with `reports` of the projections and, of several alignments,
// `counts_of_all`: counts of all positions by chromosome, with the focal species last. `alignments`
// and `reading` are as for project_and_call_impl().
// [[Rcpp::export]]
Rcpp::List take_alignments_impl(SEXP records, const Rcpp::List& alignments,
                                const Rcpp::List& reading, const Rcpp::Function& watch) {
  ancify::RecordPatterns& sites = *Rcpp::XPtr<ancify::RecordPatterns>(records);
  auto [chromosomes, options, focal_folder, focal_fasta, threads] = as_reading(reading);
  std::vector<ancify::OutgroupAlignment> outgroups;
  for (const auto& row : as_alignments(alignments)) {
    outgroups.push_back({row.species, row.file, row.name_in_file});
  }
  ancify::CountedAlignments found;
  run_job(watch, [&](ancify::JobControl& control) {
    std::optional<ancify::PackedStore> focal;
    if (!focal_fasta.empty()) {
      focal.emplace(chromosomes, options.simd);
      ancify::focal_from_fasta(focal_fasta, chromosomes, options.aliases, *focal, threads, control);
      options.open_focal = ancify::focal_in(*focal);
    }
    if (outgroups.size() == 1) {
      found.reports.push_back(
          ancify::take_letters(outgroups.front(), chromosomes, options, threads, sites, control));
    } else {
      found = ancify::count_alignments(outgroups, chromosomes, options, threads, sites, control);
    }
    sites.count_patterns();
  });
  Rcpp::List counts;
  for (std::size_t c = 0; c < found.counts.size(); ++c) {
    counts.push_back(as_list(found.counts[c]), chromosomes[c].name);
  }
  const Rcpp::List reports(found.reports.begin(), found.reports.end(),
                           [](const ancify::ProjectionReport& report) { return as_list(report); });
  Rcpp::List result = as_list(sites.patterns());
  result.push_back(reports, "reports");
  result.push_back(counts, "counts_of_all");
  return result;
}

// The patterns of outgroups among samples, as as_list() returns them, with a pointer for
// annotate_impl(). `unsupported` is a number of bases. `outgroups` is for OutgroupSampleColumns,
// `haplotypes` for SamplePatterns.
// [[Rcpp::export]]
Rcpp::List sample_patterns_impl(const std::string& variants, const Rcpp::List& outgroups,
                                int haplotypes, const Rcpp::Function& watch) {
  const auto [paths, samples] = from_list<OutgroupSampleColumns>(outgroups);
  std::vector<ancify::OutgroupSamples> given;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    given.push_back(
        {paths[i], Rcpp::as<std::vector<std::string>>(samples[static_cast<R_xlen_t>(i)])});
  }
  std::unique_ptr<ancify::SamplePatterns> found;
  run_job(watch, [&](ancify::JobControl& control) {
    found = std::make_unique<ancify::SamplePatterns>(variants, given, haplotypes, control);
  });
  const auto unsupported = static_cast<double>(found->unsupported());
  Rcpp::List result = as_list(found->patterns());
  result.push_back(unsupported, "unsupported");
  result.push_back(lengths_of(*found), "lengths");
  result.push_back(Rcpp::XPtr<ancify::RecordPatterns>(found.release()), "pointer");
  return result;
}
