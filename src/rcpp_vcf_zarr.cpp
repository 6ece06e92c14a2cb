// Connects VCF Zarr stores with the core.
#include <string>
#include <vector>

#include "core/formats/genotype/vcf_zarr_dosages.h"
#include "core/formats/genotype/vcf_zarr_index.h"
#include "core/formats/genotype/vcf_zarr_store.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

namespace {

std::vector<ancify::VcfZarrPlaces::Place> as_places(const std::vector<int>& integers) {
  std::vector<ancify::VcfZarrPlaces::Place> places;
  for (std::size_t i = 0; i + 3 <= integers.size(); i += 3) {
    places.push_back({integers[i], integers[i + 1], integers[i + 2]});
  }
  return places;
}

std::vector<std::pair<int, int>> as_pairs(const std::vector<int>& integers) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i + 2 <= integers.size(); i += 2) {
    pairs.emplace_back(integers[i], integers[i + 1]);
  }
  return pairs;
}

}  // namespace

template <>
struct Fields<ancify::VcfZarrPlaces> {
  using All = ancify::VcfZarrPlaces;
  static constexpr auto table = fields("VcfZarrPlaces", field("places", &All::places, as_places),
                                       field("no_alleles", &All::no_alleles, as_pairs));
};

ancify::VcfZarrPlaces as_vcf_zarr_places(const Rcpp::List& places) {
  return from_list<ancify::VcfZarrPlaces>(places);
}

// Returns list(samples =, variants = as from read_variants_impl(), places = of each variant: three
// numbers, no_alleles = pairs of numbers, left_out = counts of sites, split = their number,
// chunks = of genotypes, missing_chunks = chunks without a file, fill = their allele,
// has_dosages = whether call_DS exists).
// [[Rcpp::export]]
Rcpp::List read_vcf_zarr_impl(const std::string& path, bool split, const Rcpp::Function& watch) {
  ancify::VcfZarrIndex index;
  run_job(watch, [&](ancify::JobControl& control) {
    index = ancify::read_vcf_zarr_index(path, split, control);
  });
  Rcpp::IntegerVector places(static_cast<R_xlen_t>(3 * index.places.places.size()));
  auto to = places.begin();
  for (const auto& place : index.places.places) {
    for (const int number : {place.site, place.alt, place.alleles}) *to++ = number;
  }
  std::vector<int> no_alleles;
  for (const auto& [site, allele] : index.places.no_alleles) {
    no_alleles.insert(no_alleles.end(), {site, allele});
  }
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("samples") = as_strings(index.samples), Named("variants") = as_list(index.variants),
      Named("places") = places, Named("no_alleles") = no_alleles,
      Named("left_out") = Rcpp::NumericVector::create(
          Named("multiallelic") = static_cast<double>(index.multiallelic),
          Named("not_snp") = static_cast<double>(index.not_snp)),
      Named("split") = static_cast<double>(index.split),
      Named("chunks") = static_cast<double>(index.chunks),
      Named("missing_chunks") = static_cast<double>(index.missing_chunks),
      Named("fill") = static_cast<double>(index.fill), Named("has_dosages") = index.has_dosages);
}

// Reads the dosages of these places, from the first of `fields` that a site has. Returns as_list()
// of them.
// [[Rcpp::export]]
Rcpp::List read_vcf_zarr_dosages_impl(const std::string& path, double samples,
                                      const Rcpp::List& places,
                                      const std::vector<std::string>& fields,
                                      const Rcpp::Function& watch) {
  ancify::VcfZarrDosages found;
  run_job(watch, [&](ancify::JobControl& control) {
    found = ancify::read_vcf_zarr_dosages(path, static_cast<std::int64_t>(samples),
                                          as_vcf_zarr_places(places), fields, control);
  });
  return as_list(std::move(found.genotypes), found.counts);
}

// [[Rcpp::export]]
std::string vcf_zarr_identity_impl(const std::string& path) {
  std::string identity;
  guarded([&] { identity = ancify::identity_of_vcf_zarr(path); });
  return identity;
}

// list(size =, checksum =, identity =) of the files of a store.
// [[Rcpp::export]]
Rcpp::List vcf_zarr_checksum_impl(const std::string& path, const Rcpp::Function& watch) {
  ancify::FileChecksum sum;
  run_job(watch, [&](ancify::JobControl& control) {
    sum = ancify::checksum_of_vcf_zarr(path, ancify::TaskContext(control));
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("size") = static_cast<double>(sum.size),
                            Named("checksum") = tfm::format("%08x", sum.checksum),
                            Named("identity") = sum.identity);
}
