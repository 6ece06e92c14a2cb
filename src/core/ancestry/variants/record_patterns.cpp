// Reads the sites of records, and numbers their patterns.
#include "core/ancestry/variants/record_patterns.h"

#include <algorithm>
#include <array>

#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

constexpr char kUnknown = 'N';

std::string key_of(const std::optional<PolymorphicSite>& site) {
  if (!site) return {};
  std::string key;
  for (const int number :
       {site->alleles[0], site->alleles[1], site->haplotypes, site->copies.value_or(-1)}) {
    key += ' ' + std::to_string(number);
  }
  return key;
}

}  // namespace

char letter_of_allele(std::string_view allele) {
  return allele.size() == 1 ? upper_base(base_code(allele.front())) : kUnknown;
}

RecordPatterns::RecordPatterns(const std::string& variants, std::size_t width, JobControl& control)
    : RecordPatterns(variants, width) {
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    VariantReader reader(variants, 0, RecordParts::kAlleles, context.inputs());
    read_sites(reader, control);
  });
}

void RecordPatterns::read_sites(VariantReader& reader, JobControl& control,
                                const std::function<void(bool)>& seen) {
  for_each_record(reader, control, [&] {
    if (chromosomes_.empty() || reader.chromosome() != chromosomes_.back().name) {
      chromosomes_.push_back({std::string(reader.chromosome()), reader.declared_length()});
      numbers_.emplace(chromosomes_.back().name, sites_.size());
      sites_.emplace_back();
    }
    const char ref = letter_of_allele(reader.allele(0));
    if (ref == kUnknown) return;
    auto& [sites, letters] = sites_.back();
    const bool is_new = sites.empty() || sites.back().position != reader.position();
    if (is_new) {
      sites.push_back({reader.position(), 0, ref});
      letters.append(width_, kNoLetter);
    }
    if (seen) seen(is_new);
  });
}

void RecordPatterns::require_within(const std::vector<Chromosome>& chromosomes) const {
  for (std::size_t c = 0; c < sites_.size(); ++c) {
    const auto& [name, length] = chromosomes[c];
    const std::int64_t last = sites_[c].sites.empty() ? 0 : sites_[c].sites.back().position;
    if (last <= length) continue;
    throw FormatError(path_, 0,
                      "position " + std::to_string(last) + " of '" + name +
                          "' is beyond the end of the chromosome, which has " +
                          std::to_string(length) + " bases");
  }
}

void RecordPatterns::count_patterns(const PolymorphismOf& polymorphism) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  // Most sites have the pattern of the last site with the same REF.
  std::array<std::optional<std::uint32_t>, kStates> last;
  for (std::size_t c = 0; c < sites_.size(); ++c) {
    auto& [sites, letters] = sites_[c];
    std::replace(letters.begin(), letters.end(), kNoLetter, kUnknown);
    for (std::size_t i = 0; i < sites.size(); ++i) {
      Site& site = sites[i];
      auto& known = last[base_code(site.ref)];
      const bool is_known =
          known && !polymorphism &&
          letters.compare(i * width_, width_, patterns_[*known].bases, 0, width_) == 0;
      if (!is_known) {
        const auto alleles = polymorphism ? polymorphism(c, i) : std::nullopt;
        std::string bases(letters, i * width_, width_);
        bases += site.ref;
        const auto [number, is_new] =
            numbers.emplace(bases + key_of(alleles), static_cast<std::uint32_t>(patterns_.size()));
        if (is_new) patterns_.push_back({bases, alleles, 0});
        known = number->second;
      }
      site.pattern = *known;
      ++patterns_[site.pattern].sites;
    }
    letters.clear();
  }
}

std::size_t RecordPatterns::first_from(const std::vector<Site>& sites, std::int64_t position) {
  const auto found =
      std::lower_bound(sites.begin(), sites.end(), position,
                       [](const Site& site, std::int64_t at) { return site.position < at; });
  return static_cast<std::size_t>(found - sites.begin());
}

std::optional<std::size_t> RecordPatterns::at(const std::string& chromosome,
                                              std::int64_t position) {
  if (last_chromosome_ >= sites_.size() || chromosomes_[last_chromosome_].name != chromosome) {
    const auto known = numbers_.find(chromosome);
    if (known == numbers_.end()) return {};
    last_chromosome_ = known->second;
    last_site_ = 0;
  }
  const auto& sites = sites_[last_chromosome_].sites;
  const auto is_here = [&](std::size_t site) {
    return site < sites.size() && sites[site].position == position;
  };
  if (!is_here(last_site_) && is_here(last_site_ + 1)) ++last_site_;
  if (!is_here(last_site_)) last_site_ = first_from(sites, position);
  return is_here(last_site_) ? std::optional<std::size_t>(sites[last_site_].pattern) : std::nullopt;
}

}  // namespace ancify
