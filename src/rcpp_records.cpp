// Reads the genotypes of a VCF or BCF into memory.
#include <vector>

#include "core/formats/genotype/record_calls.h"
#include "core/io/checksum.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

namespace {

template <class Value>
std::uint32_t extended(std::uint32_t checksum, const std::vector<Value>& values) {
  return ancify::extend_checksum(checksum, reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(Value));
}

}  // namespace

Rcpp::List as_list(ancify::PackedGenotypes genotypes, const ancify::DosageCounts& dosages) {
  const std::uint32_t checksum =
      extended(extended(extended(0, genotypes.calls), genotypes.dosages), genotypes.units);
  const Rcpp::XPtr<ancify::PackedGenotypes> packed(
      new ancify::PackedGenotypes(std::move(genotypes)));
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("calls") = packed, Named("checksum") = tfm::format("%08x", checksum),
      Named("dosages") = dosages.field, Named("of_next") = static_cast<double>(dosages.of_next),
      Named("rounded") = static_cast<double>(dosages.rounded),
      Named("called") = static_cast<double>(dosages.called));
}

// Returns list(samples =, variants = as from read_variants_impl(), genotypes = as_list() of them,
// left_out = counts of records, split = their number, unread_dosages = whether the header declares
// DS, which is not read).
// [[Rcpp::export]]
Rcpp::List read_records_impl(const std::string& path, bool split,
                             const std::vector<std::string>& fields, const Rcpp::List& work,
                             const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  ancify::RecordCalls found;
  run_job(watch, [&](ancify::JobControl& control) {
    found = ancify::read_record_calls(path, {split, fields}, threads, control);
  });
  ancify::TextColumn samples;
  for (const std::string& sample : found.samples) samples.add(sample);
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("samples") = as_strings(samples), Named("variants") = as_list(found.variants),
      Named("genotypes") = as_list(std::move(found.genotypes), found.dosages),
      Named("left_out") = Rcpp::NumericVector::create(
          Named("multiallelic") = static_cast<double>(found.multiallelic),
          Named("not_snp") = static_cast<double>(found.not_snp),
          Named("without_genotypes") = static_cast<double>(found.without_genotypes)),
      Named("split") = static_cast<double>(found.split),
      Named("unread_dosages") = found.unread_dosages);
}
