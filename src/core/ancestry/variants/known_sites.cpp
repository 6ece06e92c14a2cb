// Reads the sites of a variant file, and calls them by the posteriors of SitePolariser.
#include "core/ancestry/variants/known_sites.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ancestry/patterns/neighbours.h"
#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/record_site.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

constexpr double kRounding = 1e-12;

int state_at(const Stretch& stretch, std::size_t species, std::int64_t position) {
  if (position < 0 || position >= stretch.chromosome_length) return kMissing;
  const auto i = static_cast<std::size_t>(position - stretch.first);
  const char* const bases = stretch.species[species];
  return stretch.form == SequenceForm::kPacked ? packed_code(bases, i) : base_code(bases[i]);
}

InputError in_two_files(const std::string& chromosome, const std::string& one,
                        const std::string& other) {
  return InputError("'" + other + "' has the chromosome '" + chromosome + "', and so has '" + one +
                    "': give each chromosome's records in one file");
}

}  // namespace

KnownSites::KnownSites(const KnownSitesFiles& files, const History& history,
                       const MutationModels& models, const Thresholds& thresholds,
                       JobControl& control)
    : species_(static_cast<std::size_t>(history.outgroups())),
      in_classes_(models.size() > 1),
      thresholds_(thresholds) {
  check_thresholds(thresholds);
  for (const std::string& path : files.paths) read(path, files, history, control);
  int most = 2;
  std::int64_t all = 0;
  std::int64_t counted = 0;
  for (const auto& [name, known] : known_) {
    all += static_cast<std::int64_t>(known.sites.size());
    for (const Site& site : known.sites) {
      most = std::max(most, site.haplotypes);
      if (site.copies != kUnknown) ++counted;
    }
  }
  polariser_ = std::make_unique<SitePolariser>(history, models, most, never_stopped_);
  if (all > 0) polariser_->prepare(control);
  const std::size_t n = files.paths.size();
  control.log((n == 1 ? "'" + files.paths[0] + "' has " : std::to_string(n) + " files have ") +
              std::to_string(all) + " sites that vary: " + std::to_string(counted) +
              " with alleles and counts, " + std::to_string(all - counted) + " with alleles alone");
  if (excluded_ > 0) {
    control.log("Left out, as AA_reason is MASKED or REF_MISMATCH: " + std::to_string(excluded_) +
                " of their sites; to use all, remove it (bcftools annotate -x INFO/AA_reason)");
  }
}

void KnownSites::read(const std::string& path, const KnownSitesFiles& files, const History& history,
                      JobControl& control) {
  VariantReader reader(path, 0, RecordParts::kGenotypes, control.inputs());
  const CountedSamples samples(files.samples, reader);
  const std::set<std::string> wanted(files.chromosomes.begin(), files.chromosomes.end());
  std::string chromosome;
  Sites* sites = nullptr;
  std::int64_t last = -1;
  while (reader.next()) {
    if (control.stop_requested()) throw Interrupted();
    if (reader.chromosome() != chromosome) {
      if (sites != nullptr) sites->shrink_to_fit();
      chromosome = reader.chromosome();
      const bool is_wanted = find_chromosome(wanted, chromosome) != wanted.end();
      sites = nullptr;
      if (is_wanted) {
        Known& known = known_[chromosome];
        if (known.path.empty()) known.path = path;
        if (known.path != path) throw in_two_files(chromosome, known.path, path);
        sites = &known.sites;
      }
      last = -1;
    }
    const auto site =
        sites == nullptr ? std::nullopt : site_of_record(reader, samples, history.focal_lineages);
    if (!site) continue;
    if (exclusion_of_info(reader)) {
      ++excluded_;
      continue;
    }
    const std::int64_t position = reader.position() - 1;
    if (position == last) {
      // With several records, the two alleles are unknown.
      if (!sites->empty() && sites->back().position == position) sites->pop_back();
      continue;
    }
    last = position;
    sites->push_back({position, site->alleles[0], site->alleles[1], site->haplotypes,
                      site->copies.value_or(kUnknown)});
  }
}

const KnownSites::Known* KnownSites::known_of(const std::string& chromosome) const {
  const auto found = find_chromosome(known_, chromosome);
  return found == known_.end() || found->second.sites.empty() ? nullptr : &found->second;
}

void KnownSites::check(const Chromosome& chromosome) const {
  const Known* const known = known_of(chromosome.name);
  if (known == nullptr || known->sites.back().position < chromosome.length) return;
  throw InputError("'" + known->path + "' has position " +
                   std::to_string(known->sites.back().position + 1) + " of '" + chromosome.name +
                   "', which has " + std::to_string(chromosome.length) +
                   " bases: it is of another genome build");
}

bool KnownSites::any_in(const std::string& chromosome, const Stretch& stretch) const {
  const Known* const known = known_of(chromosome);
  if (known == nullptr) return false;
  const Sites& sites = known->sites;
  const auto first =
      std::lower_bound(sites.begin(), sites.end(), stretch.start,
                       [](const Site& site, std::int64_t start) { return site.position < start; });
  return first != sites.end() && first->position < stretch.end;
}

void KnownSites::call(const std::string& chromosome, const Stretch& stretch, char* calls,
                      std::uint8_t* phred) const {
  const Sites& sites = known_of(chromosome)->sites;
  auto next =
      std::lower_bound(sites.begin(), sites.end(), stretch.start,
                       [](const Site& site, std::int64_t start) { return site.position < start; });
  for (; next != sites.end() && next->position < stretch.end; ++next) {
    const int alleles[] = {static_cast<int>(next->first), static_cast<int>(next->second)};
    PolymorphicSite site = {0, {alleles[0], alleles[1]}, next->haplotypes, {}, 0};
    if (next->copies != kUnknown) site.copies = next->copies;
    bool has_base = false;
    for (std::size_t s = species_; s-- > 0;) {
      const int state = state_at(stretch, s, next->position);
      has_base = has_base || state != kMissing;
      site.pattern = site.pattern * kStates + state;
    }
    if (!has_base) continue;
    if (in_classes_) {
      site.neighbours = neighbour_class_at(
          species_, next->position,
          [&](std::size_t s, std::int64_t at) { return state_at(stretch, s, at); });
    }
    const SiteCall called = call_of(site);
    const auto i = static_cast<std::size_t>(next->position - stretch.start);
    calls[i] = called.call;
    if (phred != nullptr) phred[i] = error_phred(called);
  }
}

// A tie leaves the alleles undecided.
SiteCall KnownSites::call_of(const PolymorphicSite& site) const {
  const Posterior posterior = polariser_->posterior(site);
  const double a = posterior[static_cast<std::size_t>(site.alleles[0])];
  const double b = posterior[static_cast<std::size_t>(site.alleles[1])];
  if (a + b <= 0) return {'n', {}};
  if (std::abs(a - b) <= 2 * kRounding) return {'n', posterior};
  return call_by_posterior(posterior, thresholds_);
}

}  // namespace ancify
