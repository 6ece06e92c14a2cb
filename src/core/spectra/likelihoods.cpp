// Likelihood of k derived copies in a sample: for the first i individuals, with genotype
// likelihoods l,
//   z_i(k) = [(2i-k)(2i-k-1) l_0 z(k) + 2 k (2i-k) l_1 z(k-1) + k (k-1) l_2 z(k-2)] / (2i (2i-1))
// with z of i - 1 individuals (Li 2011, Bioinformatics 27:2987). Spectrum: EM over sites, where a
// cell's share of a site is in proportion to its prior and its likelihood (Nielsen and others 2012,
// PLoS ONE 7:e37558).
#include "core/spectra/likelihoods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"
#include "core/exec/threads.h"

namespace ancify {

namespace {

constexpr std::size_t kGenotypes = 3;
constexpr std::int64_t kSitesAtOnce = 4096;
// The most by which rounding may raise log10 of a likelihood above 0.
constexpr float kRounding = 1e-3F;

// The index of the likelihood of a genotype of two alleles.
std::size_t genotype_place(int a, int b) {
  const auto low = static_cast<std::size_t>(std::min(a, b));
  const auto high = static_cast<std::size_t>(std::max(a, b));
  return high * (high + 1) / 2 + low;
}

// Converts the values of a record to likelihoods of 0, 1 and 2 derived alleles. It ignores the
// likelihoods of further alleles, which are unobserved or missing in the record.
class RecordLikelihoods {
 public:
  explicit RecordLikelihoods(SiteReader& site)
      : site_(site), numbers_(&site.sample_numbers("GL")), any_(numbers_->per_sample > 0) {
    const std::vector<float>& values = numbers_->values;
    if (std::any_of(values.begin(), values.end(), [](float x) { return !std::isnan(x); })) return;
    numbers_ = &site.sample_numbers("PL");
    any_ = any_ || numbers_->per_sample > 0;
    scale_ = -0.1F;
  }

  bool any() const { return any_; }

  // Appends the likelihoods of a sample. Without likelihoods, its genotypes are equally likely.
  void add(std::size_t sample, std::vector<float>& to) const {
    const auto n = static_cast<std::size_t>(numbers_->per_sample);
    const float* const from = numbers_->values.data() + sample * n;
    std::size_t known = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (std::isnan(from[k])) continue;
      ++known;
      const float power = from[k] * scale_;
      if (!(power <= kRounding)) site_.fail("a sample has a likelihood above 1");
    }
    if (known == 0) {
      to.insert(to.end(), kGenotypes, 1.0F);
      return;
    }
    const std::size_t expected = genotype_place(0, site_.stored_alleles());
    if (known != expected || n != expected) {
      site_.fail("a sample has " + std::to_string(known) +
                 " genotype likelihoods, but a diploid one has " + std::to_string(expected) +
                 ". Leave other samples out");
    }
    const int ancestral = site_.stored_ancestral();
    const int derived = site_.stored_derived();
    const std::array<float, kGenotypes> powers = {
        from[genotype_place(ancestral, ancestral)] * scale_,
        from[genotype_place(ancestral, derived)] * scale_,
        from[genotype_place(derived, derived)] * scale_};
    const float best = *std::max_element(powers.begin(), powers.end());
    for (const float power : powers) {
      to.push_back(std::isinf(best) ? 1.0F : std::pow(10.0F, power - best));
    }
  }

 private:
  SiteReader& site_;
  const SampleNumbers* numbers_;
  bool any_;
  float scale_ = 1;
};

std::size_t values_of_site(const std::vector<int>& sizes) {
  std::size_t n = 0;
  for (const int size : sizes) n += static_cast<std::size_t>(size) + 1;
  return n;
}

LikelihoodSites read(const SiteReaderOptions& options, std::int64_t window, JobControl& control,
                     const TaskContext& context) {
  LikelihoodSites found;
  found.table.sizes.resize(options.n_populations);
  for (const int population : options.populations) {
    if (population != kNoPopulation) found.table.sizes[static_cast<std::size_t>(population)] += 2;
  }
  SiteReader site(options, control, context);
  std::pair<std::size_t, std::int64_t> last = {0, 0};
  std::vector<float> genotypes;
  while (site.next()) {
    const RecordLikelihoods likelihoods(site);
    if (!likelihoods.any()) {
      ++found.without;
      continue;
    }
    const std::pair here(site.chromosomes(), window == 0 ? 0 : site.position() / window);
    if (window == 0 ? found.windows == 0 : here != last) ++found.windows;
    last = here;
    found.table.window.push_back(found.windows - 1);
    found.table.posterior.push_back(static_cast<float>(site.posterior()));
    for (std::size_t k = 0; k < options.n_populations; ++k) {
      genotypes.clear();
      for (std::size_t sample = 0; sample < options.populations.size(); ++sample) {
        if (options.populations[sample] == static_cast<int>(k)) likelihoods.add(sample, genotypes);
      }
      const std::size_t at = found.table.values.size();
      found.table.values.resize(at + genotypes.size() / kGenotypes * 2 + 1);
      sample_likelihoods(genotypes, &found.table.values[at]);
    }
  }
  static_cast<RecordTotals&>(found) = std::move(site.totals());
  return found;
}

// Multiplies the prior by the likelihoods of a site, cell by cell. `swapped` exchanges the alleles.
// Cells are visited in order, so that the populations' indices count up.
class SiteCells {
 public:
  explicit SiteCells(const SiteLikelihoods& sites)
      : sites_(sites), stride_(values_of_site(sites.sizes)) {
    std::size_t cells = 1;
    for (const int size : sites.sizes) cells *= static_cast<std::size_t>(size) + 1;
    joint_.resize(cells);
    other_.resize(cells);
  }

  const std::vector<double>& likelihoods(std::int64_t site) {
    const float* const values = &sites_.values[static_cast<std::size_t>(site) * stride_];
    multiply(values, joint_);
    const double posterior = sites_.posterior[static_cast<std::size_t>(site)];
    if (posterior < 1) {
      other_ = joint_;
      std::reverse(other_.begin(), other_.end());
      for (std::size_t i = 0; i < joint_.size(); ++i) {
        joint_[i] = posterior * joint_[i] + (1 - posterior) * other_[i];
      }
    }
    return joint_;
  }

 private:
  void multiply(const float* values, std::vector<double>& joint) const {
    std::size_t n = 1;
    joint[0] = 1;
    for (const int size : sites_.sizes) {
      const auto numbers = static_cast<std::size_t>(size) + 1;
      for (std::size_t k = numbers; k-- > 0;) {
        for (std::size_t i = 0; i < n; ++i) joint[k * n + i] = joint[i] * values[k];
      }
      values += numbers;
      n *= numbers;
    }
  }

  const SiteLikelihoods& sites_;
  std::size_t stride_;
  std::vector<double> joint_;
  std::vector<double> other_;
};

LikelihoodStep step_of_piece(const SiteLikelihoods& sites, const std::vector<double>& prior,
                             const std::vector<int>& weights, std::int64_t begin,
                             std::int64_t end) {
  LikelihoodStep step;
  step.counts.assign(prior.size(), 0);
  SiteCells cells(sites);
  for (std::int64_t site = begin; site < end; ++site) {
    const int window = sites.window[static_cast<std::size_t>(site)];
    const double weight = weights[static_cast<std::size_t>(window)];
    if (weight == 0) continue;
    const std::vector<double>& likelihoods = cells.likelihoods(site);
    double sum = 0;
    for (std::size_t i = 0; i < prior.size(); ++i) sum += prior[i] * likelihoods[i];
    step.log_likelihood += weight * std::log(sum);
    if (!(sum > 0)) continue;
    for (std::size_t i = 0; i < prior.size(); ++i) {
      step.counts[i] += weight / sum * prior[i] * likelihoods[i];
    }
  }
  return step;
}

}  // namespace

void sample_likelihoods(const std::vector<float>& genotypes, float* values) {
  const std::size_t individuals = genotypes.size() / kGenotypes;
  std::vector<double> z(2 * individuals + 1);
  z[0] = 1;
  for (std::size_t i = 1; i <= individuals; ++i) {
    const float* const l = &genotypes[(i - 1) * kGenotypes];
    const auto n = static_cast<double>(2 * i);
    double largest = 0;
    for (std::size_t at = 2 * i + 1; at-- > 0;) {
      const auto k = static_cast<double>(at);
      double sum = (n - k) * (n - k - 1) * l[0] * z[at];
      if (at > 0) sum += 2 * k * (n - k) * l[1] * z[at - 1];
      if (at > 1) sum += k * (k - 1) * l[2] * z[at - 2];
      z[at] = sum;
      largest = std::max(largest, sum);
    }
    for (std::size_t at = 0; at <= 2 * i; ++at) z[at] /= largest;
  }
  for (std::size_t k = 0; k < z.size(); ++k) values[k] = static_cast<float>(z[k]);
}

LikelihoodSites read_likelihoods(const SiteReaderOptions& options, std::int64_t window,
                                 JobControl& control) {
  SiteReaderOptions resolved = options;
  if (in_forked_child()) resolved.threads = 1;
  std::optional<LikelihoodSites> found;
  run_tasks(control, resolved.threads, 1, [&](std::int64_t, const TaskContext& context) {
    found = read(resolved, window, control, context);
  });
  return std::move(*found);
}

LikelihoodStep likelihood_step(const SiteLikelihoods& sites, const std::vector<double>& prior,
                               const std::vector<int>& weights, int threads, JobControl& control) {
  LikelihoodStep all;
  all.counts.assign(prior.size(), 0);
  const std::int64_t pieces = (sites.sites() + kSitesAtOnce - 1) / kSitesAtOnce;
  join_in_order(
      control, threads, pieces, 64,
      [&](std::int64_t piece, const TaskContext& context) {
        context.throw_if_stopped();
        const std::int64_t begin = piece * kSitesAtOnce;
        return step_of_piece(sites, prior, weights, begin,
                             std::min(begin + kSitesAtOnce, sites.sites()));
      },
      [&](std::int64_t /*piece*/, const LikelihoodStep& step) {
        for (std::size_t i = 0; i < prior.size(); ++i) all.counts[i] += step.counts[i];
        all.log_likelihood += step.log_likelihood;
      });
  return all;
}

}  // namespace ancify
