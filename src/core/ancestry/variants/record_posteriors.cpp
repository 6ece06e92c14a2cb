// Counts alleles in the genotypes of records, and takes posteriors from a history.
#include "core/ancestry/variants/record_posteriors.h"

#include <algorithm>
#include <string_view>

#include "core/ancestry/patterns/site_patterns.h"
#include "core/exec/errors.h"
#include "core/genome/bases.h"
#include "core/genome/sequence_file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

int base_of(std::string_view allele) {
  return allele.size() == 1 ? base_code(allele.front()) : kMissing;
}

// The columns of the wanted samples, or of all.
std::vector<std::size_t> columns_of(const std::vector<std::string>& wanted,
                                    const VariantReader& reader) {
  const auto there = reader.samples();
  std::vector<std::size_t> columns;
  for (const auto& name : wanted.empty() ? there : wanted) {
    const auto found = std::find(there.begin(), there.end(), name);
    if (found == there.end()) {
      throw InputError("'" + reader.path() + "' has no sample '" + name + "'; it has " +
                       (there.empty() ? "none" : quoted_list(there)));
    }
    columns.push_back(static_cast<std::size_t>(found - there.begin()));
  }
  return columns;
}

}  // namespace

RecordPosteriors::RecordPosteriors(const SampleHistory& options, VariantReader& reader,
                                   const JobControl& control)
    : options_(options),
      reader_(reader),
      control_(control),
      samples_(columns_of(options.samples, reader)) {}

void RecordPosteriors::begin_chromosome(const std::string& name) {
  outgroups_.clear();
  const auto files = options_.outgroups.find(name);
  if (files == options_.outgroups.end()) return;
  for (const auto& [chromosome, path] : files->second) {
    const std::int64_t length = SequenceReader(path, chromosome).length();
    auto source = file_source(path, chromosome, length);
    SequenceWindow bases(*source, length);
    outgroups_.push_back({path, std::move(source), std::move(bases)});
  }
}

std::optional<RecordPosteriors::Result> RecordPosteriors::of_record() {
  if (outgroups_.empty() || reader_.alleles() != 2) return {};
  PolymorphicSite site = {0, {base_of(reader_.allele(0)), base_of(reader_.allele(1))}, 0, {}};
  const auto& [ref, alt] = site.alleles;
  if (ref == kMissing || alt == kMissing || ref == alt) return {};
  const auto of_outgroups = pattern();
  if (!of_outgroups) return {};
  site.pattern = *of_outgroups;
  count_alleles(site);
  if (site.copies == 0 || site.copies == site.haplotypes) return {};
  if (!polariser_ || site.haplotypes > polariser_->most_haplotypes()) {
    // Assumes diploid samples unless there are more haplotypes.
    const int most = std::max(site.haplotypes, 2 * static_cast<int>(samples_.size()));
    polariser_ = std::make_unique<SitePolariser>(options_.history, options_.model, most, control_);
  }
  const Posterior posterior = polariser_->posterior(site);
  if (std::all_of(posterior.begin(), posterior.end(), [](double p) { return p == 0; })) return {};
  return Result{posterior, site.copies.has_value()};
}

// The outgroups' pattern number; none if no outgroup has a base.
std::optional<std::int64_t> RecordPosteriors::pattern() {
  const std::int64_t position = reader_.position() - 1;
  if (position < 0) return {};
  std::int64_t number = 0;
  bool has_base = false;
  for (std::size_t i = outgroups_.size(); i-- > 0;) {
    auto& [path, source, bases] = outgroups_[i];
    if (position >= bases.length()) {
      reader_.fail("position " + std::to_string(position + 1) + " of '" +
                   std::string(reader_.chromosome()) + "' is beyond the end of '" + path +
                   "', which has " + std::to_string(bases.length()) + " bases");
    }
    const int base = base_code(bases.at(position));
    has_base = has_base || base != kMissing;
    number = number * kStates + base;
  }
  if (!has_base) return {};
  return number;
}

// A record without genotypes varies in as many haplotypes as the history has.
void RecordPosteriors::count_alleles(PolymorphicSite& site) {
  const Genotypes& genotypes = reader_.genotypes();
  const auto ploidy = static_cast<std::size_t>(genotypes.ploidy);
  int copies = 0;
  for (const std::size_t sample : samples_) {
    for (std::size_t i = sample * ploidy; i < (sample + 1) * ploidy; ++i) {
      if (genotypes.alleles[i] >= 0) ++site.haplotypes;
      if (genotypes.alleles[i] == 1) ++copies;
    }
  }
  if (ploidy > 0) {
    site.copies = copies;
  } else {
    site.haplotypes = std::max(2, options_.history.focal_lineages);
  }
  if (site.haplotypes > kMostHaplotypes) {
    throw InputError("'" + reader_.path() + "' has " + std::to_string(site.haplotypes) +
                     " haplotypes; at most " + std::to_string(kMostHaplotypes) +
                     " can be used: choose fewer samples");
  }
}

}  // namespace ancify
