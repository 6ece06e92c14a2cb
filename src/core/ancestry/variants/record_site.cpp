// Counts the alleles in the genotypes of records.
#include "core/ancestry/variants/record_site.h"

#include <algorithm>
#include <string_view>

#include "core/exec/errors.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

namespace ancify {

namespace {

int base_of(std::string_view allele) {
  return allele.size() == 1 ? base_code(allele.front()) : kMissing;
}

void count_alleles(VariantReader& reader, const std::vector<std::size_t>& samples,
                   const History& history, PolymorphicSite& site) {
  const Genotypes& genotypes = reader.genotypes();
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  if (ploidy == 0) {
    site.haplotypes = std::max(2, history.focal_lineages);
    return;
  }
  int copies = 0;
  for (const std::size_t sample : samples) {
    for (std::size_t i = sample * ploidy; i < (sample + 1) * ploidy; ++i) {
      if (genotypes.alleles[i] >= 0) ++site.haplotypes;
      if (genotypes.alleles[i] == 1) ++copies;
    }
  }
  site.copies = copies;
  if (site.haplotypes > kMostHaplotypes) {
    throw InputError("'" + reader.path() + "' has " + std::to_string(site.haplotypes) +
                     " haplotypes; at most " + std::to_string(kMostHaplotypes) +
                     " can be used: choose fewer samples");
  }
}

}  // namespace

std::vector<std::size_t> columns_of(const std::vector<std::string>& samples,
                                    const VariantReader& reader) {
  const auto there = reader.samples();
  std::vector<std::size_t> columns;
  for (const auto& name : samples.empty() ? there : samples) {
    const auto found = std::find(there.begin(), there.end(), name);
    if (found == there.end()) {
      throw InputError("'" + reader.path() + "' has no sample '" + name + "'; it has " +
                       (there.empty() ? "none" : quoted_list(there)));
    }
    columns.push_back(static_cast<std::size_t>(found - there.begin()));
  }
  return columns;
}

std::optional<PolymorphicSite> site_of_record(VariantReader& reader,
                                              const std::vector<std::size_t>& samples,
                                              const History& history) {
  if (reader.alleles() != 2) return {};
  PolymorphicSite site = {0, {base_of(reader.allele(0)), base_of(reader.allele(1))}, 0, {}};
  const auto& [ref, alt] = site.alleles;
  if (ref == kMissing || alt == kMissing || ref == alt) return {};
  count_alleles(reader, samples, history, site);
  if (site.copies == 0 || site.copies == site.haplotypes) return {};
  return site;
}

}  // namespace ancify
