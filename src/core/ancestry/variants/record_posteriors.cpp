// Takes the posteriors of records from a history.
#include "core/ancestry/variants/record_posteriors.h"

#include <algorithm>

namespace ancify {

RecordPosteriors::RecordPosteriors(const SampleHistory& options, VariantReader& reader,
                                   const JobControl& control)
    : options_(options),
      reader_(reader),
      control_(control),
      samples_(options.samples, reader, options.count_fields),
      outgroups_(options.outgroups, reader) {}

void RecordPosteriors::begin_chromosome(const std::string& name) {
  outgroups_.begin_chromosome(name);
}

std::optional<RecordPosteriors::Result> RecordPosteriors::of_record() {
  const auto of_outgroups = outgroups_.pattern();
  if (!of_outgroups) return {};
  auto site = site_of_record(reader_, samples_, options_.history.focal_lineages);
  if (!site) return {};
  site->pattern = *of_outgroups;
  if (options_.models.size() > 1) site->neighbours = outgroups_.neighbours();
  if (!polariser_ || site->haplotypes > polariser_->most_haplotypes()) {
    // Assumes diploid samples unless there are more haplotypes. Grows in few steps: each is slow.
    const int before = polariser_ ? polariser_->most_haplotypes() : 0;
    const int most = std::max(
        {site->haplotypes, 2 * static_cast<int>(samples_.columns.size()), before + before / 4});
    polariser_ = std::make_unique<SitePolariser>(options_.history, options_.models, most, control_);
  }
  const Posterior posterior = polariser_->posterior(*site);
  if (std::all_of(posterior.begin(), posterior.end(), [](double p) { return p == 0; })) return {};
  return Result{posterior, site->copies.has_value()};
}

}  // namespace ancify
