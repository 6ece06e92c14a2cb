// Counts depths of called genotypes, record by record.
#include "core/spectra/depths.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/exec/errors.h"
#include "core/formats/variant/variant_file.h"
#include "core/spectra/site_reader.h"

namespace ancify {

namespace {

bool is_snp(const VariantReader& reader) {
  const auto is_base = [&](int i) {
    return reader.allele(i).size() == 1 && has_only_bases(reader.allele(i));
  };
  const auto base = [&](int i) { return base_code(reader.allele(i).front()); };
  return reader.alleles() == 2 && is_base(0) && is_base(1) && base(0) != base(1);
}

// Fails for a called genotype that is not diploid.
bool is_called(const VariantReader& reader, const Genotypes& genotypes, std::size_t sample) {
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  const int* const alleles = &genotypes.alleles[sample * ploidy];
  const int* const end = alleles + ploidy;
  if (std::none_of(alleles, end, [](int allele) { return allele >= 0; })) return false;
  if (std::count_if(alleles, end, [](int allele) { return allele != kNoAllele; }) != 2) {
    reader.fail("a called genotype is not diploid, but a coverage model is of diploid individuals");
  }
  return true;
}

}  // namespace

DepthCounts count_depths(const std::string& variants, const std::vector<int>& populations,
                         std::size_t n_populations, JobControl& control) {
  DepthCounts counts;
  counts.genotypes.assign(n_populations, std::vector<std::int64_t>(kMostDepth + 1));
  VariantReader reader(variants, 0, RecordParts::kGenotypes, control.inputs());
  for_each_record(reader, control, [&] {
    if (!is_snp(reader) || exclusion_of_info(reader)) return;
    const Genotypes& genotypes = reader.genotypes();
    const SampleNumbers& depths = reader.sample_numbers("DP");
    if (genotypes.ploidy == 0 || depths.per_sample == 0) return;
    if (depths.per_sample > 1) reader.fail("DP has several numbers for a sample");
    ++counts.sites;
    for (std::size_t sample = 0; sample < populations.size(); ++sample) {
      if (populations[sample] == kNoPopulation) continue;
      const float depth = depths.values[sample];
      if (depth < 0) reader.fail("DP is negative");
      const bool has_depth = is_called(reader, genotypes, sample) && !std::isnan(depth);
      const float most = kMostDepth;
      const auto at = static_cast<std::size_t>(has_depth ? std::min(depth, most) : 0);
      ++counts.genotypes[static_cast<std::size_t>(populations[sample])][at];
    }
  });
  if (counts.sites == 0) {
    throw FormatError(variants, 0,
                      "no record of one REF and one ALT base has depths (DP) and genotypes (GT)");
  }
  return counts;
}

}  // namespace ancify
