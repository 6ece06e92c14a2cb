// Connects two-locus statistics with the core.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ld/pair_sums.h"
#include "core/ld/read_sites.h"
#include "core/ld/recombination_map.h"
#include "rcpp_fields.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

namespace {

// A site's place and block, and how to pair sites.
struct LdPairing {
  Rcpp::NumericVector morgans;  // NA for sites to leave out
  std::vector<int> block;       // from 1
  int n_blocks;
  std::vector<double> bins;
  ancify::Work work;
};

// Chromosomes count from 1. `sites` is for ld_sums_impl().
Rcpp::List as_list(std::unique_ptr<ancify::LdSites> sites) {
  using Rcpp::Named;
  Rcpp::IntegerVector chromosome(sites->chromosome.begin(), sites->chromosome.end());
  for (int& number : chromosome) ++number;
  const auto count = [](std::int64_t n) { return static_cast<double>(n); };
  const Rcpp::NumericVector left_out = Rcpp::NumericVector::create(
      Named("MULTIALLELIC") = count(sites->multiallelic), Named("NOT_SNP") = count(sites->not_snp),
      Named("NO_GENOTYPES") = count(sites->without_genotypes),
      Named("TOO_FEW") = count(sites->too_few), Named("FIXED") = count(sites->fixed));
  Rcpp::List result = Rcpp::List::create(
      Named("chromosomes") = as_texts(sites->chromosomes), Named("chromosome") = chromosome,
      Named("position") = Rcpp::NumericVector(sites->position.begin(), sites->position.end()),
      Named("left_out") = left_out);
  result["sites"] = Rcpp::XPtr<const ancify::LdSites>(sites.release());
  return result;
}

}  // namespace

// `population` has an index for each sample, from 0, or -1 for none.
template <>
struct Fields<ancify::LdSamples> {
  using All = ancify::LdSamples;
  static constexpr auto table = fields("LdSamples", field("population", &All::population),
                                       field("n_populations", &All::n_populations));
};

template <>
struct Fields<LdPairing> {
  using All = LdPairing;
  static constexpr auto table =
      fields("LdPairing", field("morgans", &All::morgans), field("block", &All::block),
             field("n_blocks", &All::n_blocks), field("bins", &All::bins),
             field("work", &All::work, as_work));
};

// The sites of a VCF or BCF. `samples` is for LdSamples.
// [[Rcpp::export]]
Rcpp::List ld_records_impl(const std::string& path, const Rcpp::List& samples, bool phased,
                           const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto units = from_list<ancify::LdSamples>(samples);
  const auto kind = phased ? ancify::UnitKind::kHaplotypes : ancify::UnitKind::kGenotypes;
  std::unique_ptr<ancify::LdSites> sites;
  run_job(watch, [&](ancify::JobControl& control) {
    sites = std::make_unique<ancify::LdSites>(
        ancify::read_ld_records(path, units, kind, threads, control));
  });
  return as_list(std::move(sites));
}

// The sites of chosen genotypes, with the chromosome, from 1, and position of each variant.
// [[Rcpp::export]]
Rcpp::List ld_genotypes_impl(const Rcpp::List& genotypes, const Rcpp::List& samples,
                             const Rcpp::IntegerVector& chromosome,
                             const Rcpp::NumericVector& position, const Rcpp::Function& watch) {
  const auto units = from_list<ancify::LdSamples>(samples);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  ancify::LdPlaces places;
  for (const int number : chromosome) places.chromosome.push_back(number - 1);
  places.position.assign(position.begin(), position.end());
  std::unique_ptr<ancify::LdSites> sites;
  run_job(watch, [&](ancify::JobControl& control) {
    sites = std::make_unique<ancify::LdSites>(ancify::read_ld_genotypes(
        *chosen.open(control.inputs()), chosen.selection, units, places, control));
  });
  return as_list(std::move(sites));
}

// Sums over pairs. `pairing` is for LdPairing. Returns list(sums = statistic x bin x block, pairs =
// bin x block, heterozygosity = pair of populations x block).
// [[Rcpp::export]]
Rcpp::List ld_sums_impl(SEXP sites, const Rcpp::List& pairing, const Rcpp::Function& watch) {
  const auto given = from_list<LdPairing>(pairing);
  const Rcpp::NumericVector& morgans = given.morgans;
  const int n_blocks = given.n_blocks;
  const ancify::Backend& by = given.work.backend;
  const Rcpp::XPtr<const ancify::LdSites> found(sites);
  ancify::PairedSites paired = {&found->planes, found->chromosome, found->position, {}, {}};
  paired.morgans.assign(morgans.begin(), morgans.end());
  for (const int number : given.block) paired.block.push_back(number - 1);
  for (R_xlen_t i = 0; i < morgans.size(); ++i) {
    if (Rcpp::NumericVector::is_na(morgans[i])) {
      paired.chromosome[static_cast<std::size_t>(i)] = ancify::kLeftOut;
    }
  }
  std::optional<ancify::PairSums> sums;
  run_job(watch, [&](ancify::JobControl& control) {
    sums = ancify::sum_pairs(paired, {given.bins, n_blocks}, by.threads, by.simd, control);
  });
  const auto statistics = static_cast<int>(sums->statistics);
  const auto n_bins = static_cast<int>(sums->bins);
  Rcpp::NumericVector values(sums->sums.begin(), sums->sums.end());
  values.attr("dim") = Rcpp::IntegerVector::create(statistics, n_bins, n_blocks);
  Rcpp::NumericVector pairs(sums->pairs.begin(), sums->pairs.end());
  pairs.attr("dim") = Rcpp::IntegerVector::create(n_bins, n_blocks);
  Rcpp::NumericVector heterozygosity(sums->heterozygosity.begin(), sums->heterozygosity.end());
  heterozygosity.attr("dim") = Rcpp::IntegerVector::create(
      static_cast<int>(sums->heterozygosity.size()) / n_blocks, n_blocks);
  return Rcpp::List::create(Rcpp::Named("sums") = values, Rcpp::Named("pairs") = pairs,
                            Rcpp::Named("heterozygosity") = heterozygosity);
}

// A recombination map: list(chromosomes =, chromosome = of each row, from 1, position =,
// centimorgans =).
// [[Rcpp::export]]
Rcpp::List read_recombination_map_impl(const std::string& path, const Rcpp::Function& watch) {
  ancify::RecombinationMap map;
  run_job(watch, [&](ancify::JobControl& control) {
    map = ancify::read_recombination_map(path, ancify::TaskContext(control));
  });
  Rcpp::IntegerVector chromosome(map.chromosome.begin(), map.chromosome.end());
  for (int& number : chromosome) ++number;
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("chromosomes") = as_texts(map.chromosomes), Named("chromosome") = chromosome,
      Named("position") = Rcpp::NumericVector(map.position.begin(), map.position.end()),
      Named("centimorgans") = map.centimorgans);
}
