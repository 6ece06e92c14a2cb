// Builds the table of a VCF's sites.
#include "core/spectra/variant_sites.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// True if one of the alleles is the C or the G of a CpG.
CpgState cpg_of(const SiteReader& site) {
  constexpr int c = 1;
  constexpr int g = 2;
  const auto beside = [&](int base, int other, int offset) {
    if (site.ancestral() != base && site.derived() != base) return CpgState::kNo;
    const int neighbour = base_code(site.reference_at(offset).value_or('N'));
    if (neighbour == kMissing) return CpgState::kUnknown;
    return neighbour == other ? CpgState::kYes : CpgState::kNo;
  };
  const CpgState before_g = beside(c, g, 1);
  const CpgState after_c = beside(g, c, -1);
  if (before_g == CpgState::kYes || after_c == CpgState::kYes) return CpgState::kYes;
  return before_g == CpgState::kUnknown ? before_g : after_c;
}

std::size_t kind_of(const SiteReader& site) {
  return mutation_number(site.ancestral(), site.derived()) * kCpgStates +
         static_cast<std::size_t>(cpg_of(site));
}

// Only windows with sites have indices, in the order of their first sites.
class SiteWindows {
 public:
  explicit SiteWindows(std::int64_t length) : length_(length) {}

  int of(const SiteReader& site) {
    if (length_ == 0) return 0;
    const SiteWindow window = {site.chromosomes() - 1, site.position() / length_};
    if (places_.empty() || window.chromosome != places_.back().chromosome ||
        window.index != places_.back().index) {
      places_.push_back(window);
    }
    return static_cast<int>(places_.size()) - 1;
  }
  const std::vector<SiteWindow>& places() const { return places_; }

 private:
  std::int64_t length_;
  std::vector<SiteWindow> places_;
};

class SiteClasses {
 public:
  explicit SiteClasses(const VariantSitesOptions& options) : options_(options) {}

  // The class of a site; empty if it has none.
  std::optional<int> of(SiteReader& site) {
    if (site.chromosomes() != chromosomes_) begin_chromosome(site);
    auto at = std::lower_bound(here_->begin(), here_->end(), site.position(),
                               [](const SiteClass& c, std::int64_t p) { return c.position < p; });
    for (; at != here_->end() && at->position == site.position(); ++at) {
      if (at->derived == kAnyBase || at->derived == site.derived()) return at->number;
    }
    return {};
  }

 private:
  void begin_chromosome(SiteReader& site) {
    chromosomes_ = site.chromosomes();
    const auto at = options_.classes.find(site.totals().chromosomes.back().name);
    here_ = at == options_.classes.end() ? &none_ : &at->second;
  }

  const VariantSitesOptions& options_;
  const std::vector<SiteClass> none_;
  std::size_t chromosomes_ = 0;
  const std::vector<SiteClass>* here_ = &none_;  // of the current chromosome
};

// The weight of the site as counted; with exchanged alleles it has 1 minus this weight. A posterior
// by outgroups alone is the share of right calls whatever the counts, so spectra of calls are
// mixtures. These weights undo them: the true state has the expected weight 1, the other one 0.
double weight_of(const SiteReader& site, double least_posterior) {
  const double p = site.posterior();
  return least_posterior == 0 || site.posterior_of_sample() ? p : p / (2 * p - 1);
}

VariantSites tabulate(const VariantSitesOptions& options, JobControl& control,
                      const TaskContext& context) {
  VariantSites sites(options.n_populations);
  SiteReader site(options, control, context);
  SiteWindows windows(options.window);
  SiteClasses classes(options);
  while (site.next()) {
    const std::optional<int> window =
        options.n_classes > 0 ? classes.of(site) : std::optional<int>(windows.of(site));
    if (!window) {
      ++sites.unclassed;
      continue;
    }
    if (site.posterior() < options.least_posterior && !site.posterior_of_sample()) {
      ++sites.doubtful;
      continue;
    }
    sites.table.add(site.counts().data(), weight_of(site, options.least_posterior), *window);
    if (options.kind == SiteKind::kSnps) {
      sites.errors.add(site.counts().data(), site.posterior(), kind_of(site));
    }
  }
  sites.places = windows.places();
  sites.windows = options.n_classes > 0 ? options.n_classes : static_cast<int>(sites.places.size());
  static_cast<RecordTotals&>(sites) = std::move(site.totals());
  return sites;
}

}  // namespace

std::vector<std::string> variant_samples(const std::string& path, bool may_be_none) {
  std::vector<std::string> samples = VariantReader(path).samples();
  if (samples.empty() && !may_be_none) {
    throw FormatError(path, 0, "the file has no samples, and so no genotypes");
  }
  for (const auto& sample : samples) {
    if (!is_utf8(sample)) {
      throw FormatError(path, 0,
                        "the name of the sample " + excerpt(sample) + " is not UTF-8 text");
    }
  }
  return samples;
}

VariantSites tabulate_variants(const VariantSitesOptions& options, JobControl& control) {
  VariantSitesOptions resolved = options;
  if (in_forked_child()) resolved.threads = 1;
  std::optional<VariantSites> sites;
  run_tasks(control, resolved.threads, 1, [&](std::int64_t, const TaskContext& context) {
    sites = tabulate(resolved, control, context);
  });
  return std::move(*sites);
}

}  // namespace ancify
