// Reads the sites of a variant file, and calls them by the posteriors of SitePolariser.
#include "core/ancestry/variants/known_sites.h"

#include <algorithm>
#include <cmath>

#include "core/ancestry/variants/record_site.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

constexpr double kRounding = 1e-12;

int state_at(const Stretch& stretch, std::size_t species, std::int64_t position) {
  const auto i = static_cast<std::size_t>(position - stretch.first);
  const char* const bases = stretch.species[species];
  return stretch.form == SequenceForm::kPacked ? packed_code(bases, i) : base_code(bases[i]);
}

}  // namespace

KnownSites::KnownSites(const std::string& variants, const History& history,
                       const MutationModel& model, const Thresholds& thresholds,
                       JobControl& control)
    : path_(variants),
      species_(static_cast<std::size_t>(history.outgroups())),
      thresholds_(thresholds) {
  check_thresholds(thresholds);
  VariantReader reader(variants, 0, RecordParts::kGenotypes, control.inputs());
  const auto samples = columns_of({}, reader);
  int most = 2;
  std::int64_t counted = 0;
  std::int64_t all = 0;
  Sites* sites = nullptr;
  std::string chromosome;
  std::int64_t last = -1;
  while (reader.next()) {
    if (control.stop_requested()) throw Interrupted();
    if (sites == nullptr || reader.chromosome() != chromosome) {
      chromosome = reader.chromosome();
      sites = &sites_[chromosome];
      last = -1;
    }
    const auto site = site_of_record(reader, samples, history);
    if (!site) continue;
    const std::int64_t position = reader.position() - 1;
    const bool again = position == last;
    last = position;
    if (again) {
      if (sites->empty() || sites->back().position != position) continue;
      --all;
      if (sites->back().site.copies) --counted;
      sites->pop_back();
      continue;
    }
    sites->push_back({position, *site});
    most = std::max(most, site->haplotypes);
    ++all;
    if (site->copies) ++counted;
  }
  polariser_ = std::make_unique<SitePolariser>(history, model, most, never_stopped_);
  if (all > 0) polariser_->prepare(control);
  control.log("'" + path_ + "' has " + std::to_string(all) +
              " sites that vary: " + std::to_string(counted) + " with alleles and counts, " +
              std::to_string(all - counted) + " with alleles alone");
}

const KnownSites::Sites* KnownSites::sites_of(const std::string& chromosome) const {
  auto found = sites_.find(chromosome);
  if (found == sites_.end()) found = sites_.find(with_other_prefix(chromosome));
  return found == sites_.end() || found->second.empty() ? nullptr : &found->second;
}

void KnownSites::check(const Chromosome& chromosome) const {
  const Sites* const sites = sites_of(chromosome.name);
  if (sites == nullptr || sites->back().position < chromosome.length) return;
  throw InputError("'" + path_ + "' has position " + std::to_string(sites->back().position + 1) +
                   " of '" + chromosome.name + "', which has " + std::to_string(chromosome.length) +
                   " bases: it is of another genome build");
}

bool KnownSites::any_in(const std::string& chromosome, const Stretch& stretch) const {
  const Sites* const sites = sites_of(chromosome);
  if (sites == nullptr) return false;
  const auto first =
      std::lower_bound(sites->begin(), sites->end(), stretch.start,
                       [](const Site& site, std::int64_t start) { return site.position < start; });
  return first != sites->end() && first->position < stretch.end;
}

void KnownSites::call(const std::string& chromosome, const Stretch& stretch, char* calls,
                      std::uint8_t* phred) const {
  const Sites& sites = *sites_of(chromosome);
  auto next =
      std::lower_bound(sites.begin(), sites.end(), stretch.start,
                       [](const Site& site, std::int64_t start) { return site.position < start; });
  for (; next != sites.end() && next->position < stretch.end; ++next) {
    PolymorphicSite site = next->site;
    bool has_base = false;
    for (std::size_t s = species_; s-- > 0;) {
      const int state = state_at(stretch, s, next->position);
      has_base = has_base || state != kMissing;
      site.pattern = site.pattern * kStates + state;
    }
    if (!has_base) continue;
    const SiteCall called = call_of(site);
    const auto i = static_cast<std::size_t>(next->position - stretch.start);
    calls[i] = called.call;
    if (phred != nullptr) phred[i] = error_phred(called);
  }
}

// In a tie nothing decides between the alleles.
SiteCall KnownSites::call_of(const PolymorphicSite& site) const {
  Posterior posterior;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    posterior = polariser_->posterior(site);
  }
  const double a = posterior[static_cast<std::size_t>(site.alleles[0])];
  const double b = posterior[static_cast<std::size_t>(site.alleles[1])];
  if (a + b <= 0) return {'n', {}};
  if (std::abs(a - b) <= 2 * kRounding) return {'n', posterior};
  return call_by_posterior(posterior, thresholds_);
}

}  // namespace ancify
