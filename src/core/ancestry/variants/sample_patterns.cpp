// Reads the genotypes of outgroups, and numbers the patterns of their bases.
#include "core/ancestry/variants/sample_patterns.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "core/ancestry/variants/record_site.h"
#include "core/exec/errors.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"
#include "core/genome/lengths.h"

namespace ancify {

namespace {

constexpr char kUndecided = 'N';

// Counts of called haplotypes by base code; alleles of several bases count as missing bases.
std::array<int, kStates> haplotypes_by_base(VariantReader& reader,
                                            const std::vector<std::size_t>& columns) {
  const Genotypes& genotypes = reader.genotypes();
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  std::array<int, kStates> haplotypes = {};
  for (const std::size_t column : columns) {
    for (std::size_t i = column * ploidy; i < (column + 1) * ploidy; ++i) {
      const int allele = genotypes.alleles[i];
      if (allele >= 0) ++haplotypes[base_code(letter_of_allele(reader.allele(allele)))];
    }
  }
  return haplotypes;
}

// The base of most called haplotypes; kNoRecord if none is called.
char base_of_samples(VariantReader& reader, const std::vector<std::size_t>& columns) {
  const auto haplotypes = haplotypes_by_base(reader, columns);
  const auto most = std::max_element(haplotypes.begin(), haplotypes.end());
  if (*most == 0) return kNoRecord;
  const bool is_tied = std::count(haplotypes.begin(), haplotypes.end(), *most) > 1;
  return is_tied ? kUndecided : upper_base(static_cast<int>(most - haplotypes.begin()));
}

// The columns without a 0, which marks a genotype without supporting reads.
std::vector<std::size_t> supported(VariantReader& reader, std::vector<std::size_t> columns) {
  for (const char* const field : {"GQ", "DP", "MIN_DP"}) {
    const SampleNumbers& numbers = reader.sample_numbers(field);
    if (numbers.per_sample != 1) continue;
    const auto is_zero = [&](std::size_t column) { return numbers.values[column] == 0; };
    columns.erase(std::remove_if(columns.begin(), columns.end(), is_zero), columns.end());
  }
  return columns;
}

// The two bases of the focal samples, of which REF must be one. ALTs that only outgroups carry do
// not count.
std::optional<PolymorphicSite> polymorphism_of(VariantReader& reader, const CountedSamples& focal,
                                               int haplotypes) {
  if (reader.genotypes().ploidy == 0) return site_of_record(reader, focal, haplotypes);
  const auto found = haplotypes_by_base(reader, focal.columns);
  const int ref = base_code(reader.allele(0).front());
  PolymorphicSite site = {0, {ref, kMissing}, found[ref], {}};
  for (int base = 0; base < kStates; ++base) {
    if (base == ref || found[base] == 0) continue;
    if (site.alleles[1] != kMissing || base == kMissing) return {};
    site.alleles[1] = base;
    site.copies = found[base];
    site.haplotypes += found[base];
  }
  if (site.alleles[1] == kMissing || found[ref] == 0) return {};
  return site;
}

// Calls `take` with REF of each record whose REF is a single letter; N if that is no base.
template <class Take>
void for_each_single_ref(VariantReader& reader, JobControl& control, Take take) {
  for_each_record(reader, control, [&] {
    if (reader.allele(0).size() == 1) take(letter_of_allele(reader.allele(0)));
  });
}

// The samples that are not outgroups; none if the file has no samples.
std::vector<std::string> focal_samples(const VariantReader& reader,
                                       const std::vector<OutgroupSamples>& outgroups) {
  std::set<std::string> others;
  for (const auto& [path, samples] : outgroups) {
    if (path == reader.path()) others.insert(samples.begin(), samples.end());
  }
  const auto all = reader.samples();
  std::vector<std::string> focal;
  std::copy_if(all.begin(), all.end(), std::back_inserter(focal),
               [&](const std::string& name) { return others.count(name) == 0; });
  if (focal.empty() && !all.empty()) {
    throw InputError("'" + reader.path() +
                     "' has no sample of the focal species: all are outgroups");
  }
  return focal;
}

}  // namespace

char combined_base(char before, char base, char ref) {
  if (base == kNoRecord || base == before) return before;
  // After a split by ALT, REF only means that the haplotypes lack this record's ALT.
  if (before == kNoRecord || before == ref) return base;
  return base == ref ? before : kUndecided;
}

SamplePatterns::SamplePatterns(const std::string& variants,
                               const std::vector<OutgroupSamples>& outgroups, int haplotypes,
                               JobControl& control)
    : RecordPatterns(variants, outgroups.size()) {
  read_focal(variants, outgroups, haplotypes, control);
  std::set<std::string> paths;
  for (const auto& outgroup : outgroups) paths.insert(outgroup.path);
  for (const auto& path : paths) read_bases(path, outgroups, control);
  count_patterns([&](std::size_t chromosome, std::size_t site) {
    return haplotypes > 0 ? polymorphisms_[chromosome][site] : std::nullopt;
  });
  polymorphisms_.clear();
}

void SamplePatterns::read_focal(const std::string& path,
                                const std::vector<OutgroupSamples>& outgroups, int haplotypes,
                                JobControl& control) {
  if (haplotypes == 0) {
    VariantReader reader(path);
    return read_sites(reader, control);
  }
  VariantReader reader(path, 0, RecordParts::kGenotypes);
  const CountedSamples focal(focal_samples(reader, outgroups), reader);
  read_sites(reader, control, [&](bool is_new) {
    polymorphisms_.resize(chromosomes().size());
    auto& here = polymorphisms_.back();
    if (is_new) {
      here.push_back(polymorphism_of(reader, focal, haplotypes));
    } else {
      here.back().reset();  // more than two alleles
    }
  });
}

void SamplePatterns::check_ref(const VariantReader& reader, const Site& site, char ref) {
  if (site.position != reader.position() || site.ref == ref || ref == kUndecided) return;
  reader.fail("REF is " + std::string(1, ref) + ", but " + std::string(1, site.ref) +
              " in the variants to polarise: both files must be of one genome build");
}

void SamplePatterns::read_bases(const std::string& path,
                                const std::vector<OutgroupSamples>& outgroups,
                                JobControl& control) {
  VariantReader reader(path, 0, RecordParts::kGenotypes);
  std::vector<std::size_t> own;
  std::vector<std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < width_; ++i) {
    if (outgroups[i].path != path) continue;
    own.push_back(i);
    columns.push_back(CountedSamples(outgroups[i].samples, reader).columns);
  }
  SitesOfChromosome* here = nullptr;
  std::string name;
  for_each_single_ref(reader, control, [&](char ref) {
    if (name.empty() || reader.chromosome() != name) {
      name = reader.chromosome();
      const auto known = find_chromosome(numbers_, name);
      here = known == numbers_.end() ? nullptr : &sites_[known->second];
    }
    const bool has_alt = reader.alleles() > 1;
    if (here == nullptr || (has_alt && ref == kUndecided)) return;
    const auto& sites = here->sites;
    const std::int64_t end = has_alt ? reader.position() : reader.end();
    const std::size_t first = first_from(sites, reader.position());
    const std::size_t last = first_from(sites, end + 1);
    if (first == last) return;
    check_ref(reader, sites[first], ref);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const char base =
          base_of_samples(reader, has_alt ? columns[i] : supported(reader, columns[i]));
      if (base == kNoRecord && base_of_samples(reader, columns[i]) != kNoRecord) {
        unsupported_ += static_cast<std::int64_t>(last - first);
      }
      for (std::size_t site = first; site < last; ++site) {
        char& state = here->letters[site * width_ + own[i]];
        const bool is_ref = !has_alt && base != kNoRecord;
        state = combined_base(state, is_ref ? sites[site].ref : base, sites[site].ref);
      }
    }
  });
}

}  // namespace ancify
