// Reads the genotypes of outgroups, and numbers the patterns of their bases.
#include "core/ancestry/variants/sample_patterns.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/ancestry/variants/record_site.h"
#include "core/exec/errors.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"
#include "core/genome/lengths.h"

namespace ancify {

namespace {

constexpr char kUndecided = 'N';

// The single base of an allele; N for several bases.
char letter_of(std::string_view allele) {
  return allele.size() == 1 ? upper_base(base_code(allele.front())) : kUndecided;
}

// The base of most called haplotypes; kNoRecord if none is called.
char base_of_samples(VariantReader& reader, const std::vector<std::size_t>& columns) {
  const Genotypes& genotypes = reader.genotypes();
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  std::array<int, kStates> haplotypes = {};
  for (const std::size_t column : columns) {
    for (std::size_t i = column * ploidy; i < (column + 1) * ploidy; ++i) {
      const int allele = genotypes.alleles[i];
      if (allele >= 0) ++haplotypes[base_code(letter_of(reader.allele(allele)))];
    }
  }
  const auto most = std::max_element(haplotypes.begin(), haplotypes.end());
  if (*most == 0) return kNoRecord;
  const bool is_tied = std::count(haplotypes.begin(), haplotypes.end(), *most) > 1;
  return is_tied ? kUndecided : upper_base(static_cast<int>(most - haplotypes.begin()));
}

// Calls `take` with REF of each record whose REF is a single base.
template <class Take>
void for_each_site(VariantReader& reader, JobControl& control, Take take) {
  ReadingProgress progress(reader.path(), control);
  while (reader.next()) {
    if (control.stop_requested()) throw Interrupted();
    progress.record(reader);
    const char ref = letter_of(reader.allele(0));
    if (ref != kUndecided) take(ref);
  }
}

}  // namespace

char combined_base(char before, char base, char ref) {
  if (base == kNoRecord || base == before) return before;
  // After a split by ALT, REF says only that the haplotypes lack this record's ALT.
  if (before == kNoRecord || before == ref) return base;
  return base == ref ? before : kUndecided;
}

SamplePatterns::SamplePatterns(const std::string& variants,
                               const std::vector<OutgroupSamples>& outgroups, JobControl& control)
    : width_(outgroups.size()) {
  read_sites(variants, control);
  std::set<std::string> paths;
  for (const auto& outgroup : outgroups) paths.insert(outgroup.path);
  for (const auto& path : paths) read_bases(path, outgroups, control);
  count_patterns();
}

void SamplePatterns::read_sites(const std::string& path, JobControl& control) {
  VariantReader reader(path);
  Chromosome* here = nullptr;
  std::string name;
  for_each_site(reader, control, [&](char ref) {
    if (here == nullptr || reader.chromosome() != name) {
      name = reader.chromosome();
      here = &chromosomes_[name];
    }
    auto& sites = here->sites;
    if (sites.empty() || sites.back().position != reader.position()) {
      sites.push_back({reader.position(), 0, ref});
    }
  });
  for (auto& [chromosome, found] : chromosomes_) {
    found.states.assign(found.sites.size() * width_, kNoRecord);
  }
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
  Chromosome* here = nullptr;
  std::string name;
  for_each_site(reader, control, [&](char ref) {
    if (name.empty() || reader.chromosome() != name) {
      name = reader.chromosome();
      const auto known = find_chromosome(chromosomes_, name);
      here = known == chromosomes_.end() ? nullptr : &known->second;
    }
    const Site* const site = here == nullptr ? nullptr : find(here->sites, reader.position());
    if (site == nullptr) return;
    if (site->ref != ref) {
      reader.fail("REF is " + std::string(1, ref) + ", but " + std::string(1, site->ref) +
                  " in the variants to polarise: both files must be of one genome build");
    }
    const auto index = static_cast<std::size_t>(site - here->sites.data());
    for (std::size_t i = 0; i < own.size(); ++i) {
      char& state = here->states[index * width_ + own[i]];
      state = combined_base(state, base_of_samples(reader, columns[i]), ref);
    }
  });
}

void SamplePatterns::count_patterns() {
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (auto& [name, chromosome] : chromosomes_) {
    const char* states = chromosome.states.data();
    for (Site& site : chromosome.sites) {
      std::string bases(states, width_);
      std::replace(bases.begin(), bases.end(), kNoRecord, kUndecided);
      bases += site.ref;
      const auto [number, is_new] =
          numbers.emplace(bases, static_cast<std::uint32_t>(patterns_.size()));
      if (is_new) patterns_.push_back({bases});
      site.pattern = number->second;
      ++patterns_[site.pattern].sites;
      states += width_;
    }
    chromosome.states = {};
  }
}

const SamplePatterns::Site* SamplePatterns::find(const std::vector<Site>& sites,
                                                 std::int64_t position) {
  const auto found =
      std::lower_bound(sites.begin(), sites.end(), position,
                       [](const Site& site, std::int64_t at) { return site.position < at; });
  return found == sites.end() || found->position != position ? nullptr : &*found;
}

std::optional<std::size_t> SamplePatterns::at(const std::string& chromosome,
                                              std::int64_t position) const {
  const auto known = chromosomes_.find(chromosome);
  if (known == chromosomes_.end()) return {};
  const Site* const site = find(known->second.sites, position);
  if (site == nullptr) return {};
  return site->pattern;
}

}  // namespace ancify
