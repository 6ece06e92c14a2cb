// Counts the alleles of records, in genotypes or INFO.
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

// The counts in INFO, if the record has both.
bool take_info(VariantReader& reader, const CountFields& fields, PolymorphicSite& site) {
  const auto count = reader.info_counts(fields);
  if (!count) return false;
  if (count->called > kMostHaplotypes) {
    throw InputError("'" + reader.path() + "' has an " + fields.called + " of " +
                     std::to_string(count->called) + "; at most " +
                     std::to_string(kMostHaplotypes) + " haplotypes can be used: remove " +
                     fields.called + " from INFO");
  }
  site.copies = static_cast<int>(count->copies);
  site.haplotypes = static_cast<int>(count->called);
  return true;
}

void take_genotypes(const Genotypes& genotypes, const CountedSamples& samples,
                    const std::string& path, PolymorphicSite& site) {
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  int copies = 0;
  for (const std::size_t sample : samples.columns) {
    for (std::size_t i = sample * ploidy; i < (sample + 1) * ploidy; ++i) {
      if (genotypes.alleles[i] >= 0) ++site.haplotypes;
      if (genotypes.alleles[i] == 1) ++copies;
    }
  }
  site.copies = copies;
  if (site.haplotypes > kMostHaplotypes) {
    throw InputError("'" + path + "' has " + std::to_string(site.haplotypes) +
                     " haplotypes; at most " + std::to_string(kMostHaplotypes) +
                     " can be used: choose fewer samples");
  }
}

}  // namespace

CountedSamples::CountedSamples(const std::vector<std::string>& samples, const VariantReader& reader,
                               const std::optional<CountFields>& named)
    : fields(named), only_fields(named.has_value()) {
  if (only_fields) {
    reader.require_declared(*fields);
    return;
  }
  const bool all = samples.empty();
  if (all) fields.emplace();
  const auto there = reader.samples();
  for (const auto& name : all ? there : samples) {
    const auto found = std::find(there.begin(), there.end(), name);
    if (found == there.end()) {
      throw InputError("'" + reader.path() + "' has no sample '" + name + "'; it has " +
                       (there.empty() ? "none" : quoted_list(there)));
    }
    columns.push_back(static_cast<std::size_t>(found - there.begin()));
  }
}

std::optional<PolymorphicSite> site_of_record(VariantReader& reader, const CountedSamples& samples,
                                              int haplotypes) {
  if (reader.alleles() != 2) return {};
  PolymorphicSite site = {0, {base_of(reader.allele(0)), base_of(reader.allele(1))}, 0, {}};
  const auto& [ref, alt] = site.alleles;
  if (ref == kMissing || alt == kMissing || ref == alt) return {};
  const Genotypes* const genotypes = samples.only_fields ? nullptr : &reader.genotypes();
  if (genotypes != nullptr && genotypes->ploidy > 0) {
    take_genotypes(*genotypes, samples, reader.path(), site);
  } else if (!samples.fields || !take_info(reader, *samples.fields, site)) {
    site.haplotypes = std::max(2, haplotypes);
  }
  if (site.copies == 0 || site.copies == site.haplotypes) return {};
  return site;
}

}  // namespace ancify
