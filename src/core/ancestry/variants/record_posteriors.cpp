// Looks the outgroups' bases up at records, and takes posteriors from a history.
#include "core/ancestry/variants/record_posteriors.h"

#include <algorithm>

#include "core/ancestry/patterns/site_patterns.h"
#include "core/ancestry/variants/record_site.h"
#include "core/genome/bases.h"
#include "core/genome/sequence_file.h"

namespace ancify {

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
  if (outgroups_.empty()) return {};
  const auto of_outgroups = pattern();
  if (!of_outgroups) return {};
  auto site = site_of_record(reader_, samples_, options_.history);
  if (!site) return {};
  site->pattern = *of_outgroups;
  if (!polariser_ || site->haplotypes > polariser_->most_haplotypes()) {
    // Assumes diploid samples unless there are more haplotypes.
    const int most = std::max(site->haplotypes, 2 * static_cast<int>(samples_.size()));
    polariser_ = std::make_unique<SitePolariser>(options_.history, options_.model, most, control_);
  }
  const Posterior posterior = polariser_->posterior(*site);
  if (std::all_of(posterior.begin(), posterior.end(), [](double p) { return p == 0; })) return {};
  return Result{posterior, site->copies.has_value()};
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

}  // namespace ancify
