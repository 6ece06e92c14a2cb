// Computes the joint probability of the outgroups' pattern and the ancestral base z, summed over
// gene trees (sources in coalescent.h). With k focal lineages at the first split:
//   P(pattern, z) = sum over x of P(pattern, x | k = 1) stem(x, z)
//                   + sum over k >= 2 of P(k) P(pattern, z | k)
// At a polymorphic site, where a mutated to d, the mutation is older than the split, with i
// lineages of a and j of d there, or younger:
//   P(pattern, a, d, sample) = sum over i, j >= 1 of older(i, j) P(pattern, a, d | i, j)
//     + Q_ad (sum over x of P(pattern, x | k = 1) newer_stem(x, a)
//             + sum over k >= 2 of newer(k) P(pattern, a | k))
// Only older, newer and newer_stem depend on the counts; without counts they are sums over these.
#include "core/ancestry/coalescent/coalescent.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "core/ancestry/coalescent/focal_branch.h"
#include "core/ancestry/coalescent/lineage_space.h"
#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::size_t kAllelePairs = std::size_t{kBases} * kBases;
constexpr double kNegligible = 1e-12;
constexpr double kNegligiblePolymorphic = 1e-9;

std::size_t power(std::size_t base, int exponent) {
  std::size_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

// ---- The history, from now on back --------------------------------------------------------------

// After this many times 2N generations a population's lineages have coalesced to one, except with a
// probability below 1e-26.
constexpr double kUntilOne = 64;

// Splits an epoch where the lineages of a small population have coalesced to one, and sets its rate
// to 0 from there. Otherwise the cost would be proportional to the epoch's length / 2N.
void add_stretches(std::vector<Epoch>& epochs, Epoch epoch) {
  const double length = epoch.length;
  for (double past = 0; past < length;) {
    const auto fastest = std::max_element(epoch.pair_rate.begin(), epoch.pair_rate.end());
    const double until = *fastest * length > kUntilOne ? kUntilOne / *fastest : length;
    epoch.length = until - past;
    if (epoch.length > 0) epochs.push_back(epoch);
    past = until;
    *fastest = 0;
  }
}

std::vector<Epoch> epochs_of(const History& history) {
  Epoch epoch = {0, {}, {}, true};
  epoch.population.resize(history.joins.size() + 1);
  std::iota(epoch.population.begin(), epoch.population.end(), 0);
  epoch.pair_rate.resize(history.joins.size() + 1);
  std::vector<Epoch> epochs;
  double start = 0;
  for (const auto& join : history.joins) {
    epoch.length = join.time - start;
    add_stretches(epochs, epoch);
    start = join.time;
    std::replace(epoch.population.begin(), epoch.population.end(), join.from, join.into);
    epoch.pair_rate[static_cast<std::size_t>(join.from)] = 0;
    epoch.pair_rate[static_cast<std::size_t>(join.into)] = 1 / (2 * join.size);
    if (join.into == 0) epoch.focal_alone = false;
  }
  epoch.length = std::numeric_limits<double>::infinity();
  epochs.push_back(epoch);
  return epochs;
}

// A start state: the focal lineages at their first split, and a lineage for each outgroup.
LineageState starting_state(FocalStage stage, int ancestral, int derived, int outgroups) {
  LineageState state = {stage, ancestral, derived, {}};
  for (int i = 0; i < outgroups; ++i) state.lineages.push_back({LineageKind::kOutgroup, 1U << i});
  if (stage == FocalStage::kOne) state.lineages.push_back({LineageKind::kFocal, 0});
  return state;
}

// For each start state, the probability of the bases on its axes: the labels, the outgroups' bases,
// and the focal lineage's base.
std::vector<std::vector<double>> descend(const History& history, const MutationModel& model,
                                         FocalData data, const std::vector<LineageState>& starts,
                                         const JobControl& control) {
  std::vector<LineageSpace> spaces;
  for (const auto& epoch : epochs_of(history)) {
    spaces.emplace_back(spaces.empty() ? starts : spaces.back().states(), epoch, data, model,
                        control);
  }
  std::vector<double> weights = spaces.back().from_root(control);
  for (std::size_t i = spaces.size() - 1; i-- > 0;) {
    // A state of the older epoch is dropped if it joins lineages of populations that are still
    // separate in this one.
    std::vector<double> apart(spaces[i].size());
    for (const auto& state : spaces[i].states()) {
      const std::size_t begin = spaces[i + 1].begin(state);
      if (begin == LineageSpace::kNone) continue;  // not a state of the older epoch
      const double* from = weights.data() + begin;
      std::copy(from, from + state.size(), apart.data() + spaces[i].begin(state));
    }
    weights = spaces[i].down(std::move(apart), control);
  }
  std::vector<std::vector<double>> result;
  for (const auto& start : starts) {
    const double* from = weights.data() + spaces.front().begin(start);
    result.emplace_back(from, from + start.size());
  }
  return result;
}

void check_most(const History& history, int most) {
  if (history.outgroups() > kMostCoalescentOutgroups) {
    throw InputError("the coalescent takes at most " + std::to_string(kMostCoalescentOutgroups) +
                     " outgroups, not " + std::to_string(history.outgroups()) +
                     "; leave out some of the distant ones, or choose likelihood");
  }
  if (most > kMostFocalLineages) {
    throw InputError("more than " + std::to_string(kMostFocalLineages) +
                     " focal lineages remain at the first split, which is too recent for the focal "
                     "population size (the split is at " +
                     number_text(history.focal_split() / (2 * history.focal_size)) +
                     " times 2N generations). Take fewer focal haplotypes, or leave out the "
                     "outgroup with the most recent split");
  }
}

// The series in lineage_space.cpp need a number of terms proportional to the number of mutations.
void check_mutations(const History& history, const MutationModel& model) {
  constexpr double kMost = 1000;
  double generations = history.joins.back().time;
  for (const auto& join : history.joins) generations = std::max(generations, 2 * join.size);
  double fastest = 0;
  for (std::size_t i = 0; i < kBases; ++i) fastest = std::max(fastest, -model.rates[i][i]);
  if (fastest * generations > kMost) {
    throw InputError(
        "a base mutates " + number_text(fastest * generations) +
        " times up to the oldest split, or in 2N generations of the largest "
        "population; with more than " +
        number_text(kMost) +
        " mutations the past cannot be inferred. Check the splits, sizes and mutation rate: "
        "splits are in generations, the rate is per generation");
  }
}

// ---- Patterns -----------------------------------------------------------------------------------

// Extends each outgroup's axis by kMissing, which sums over its bases: from [first outgroup's base]
// ... [last outgroup's base][unit] to [pattern][unit].
std::vector<double> by_pattern(const std::vector<double>& values, int outgroups, std::size_t unit) {
  // Each step extends the slowest axis and puts it in front of the finished axes:
  // [left][done][unit].
  std::vector<double> now = values;
  std::size_t left = power(kBases, outgroups);
  std::size_t done = 1;
  for (int i = 0; i < outgroups; ++i) {
    left /= kBases;
    std::vector<double> next(left * kStates * done * unit);
    for (std::size_t base = 0; base < kBases; ++base) {
      for (std::size_t rest = 0; rest < left; ++rest) {
        for (std::size_t pattern = 0; pattern < done; ++pattern) {
          for (std::size_t j = 0; j < unit; ++j) {
            const double value = now[((base * left + rest) * done + pattern) * unit + j];
            const auto at = [&](std::size_t state) -> double& {
              return next[((rest * kStates + state) * done + pattern) * unit + j];
            };
            at(base) += value;
            at(kMissing) += value;
          }
        }
      }
    }
    now = std::move(next);
    done *= kStates;
  }
  return now;
}

// From [label][outgroups' bases] to [outgroups' bases][label].
std::vector<double> label_last(const std::vector<double>& values, std::size_t labels) {
  const std::size_t n = values.size() / labels;
  std::vector<double> result(values.size());
  for (std::size_t label = 0; label < labels; ++label) {
    for (std::size_t i = 0; i < n; ++i) result[i * labels + label] = values[label * n + i];
  }
  return result;
}

// The pattern's index; the first species changes fastest.
template <class State>
std::size_t pattern_code(const State* states, int species) {
  std::size_t code = 0;
  for (int i = species - 1; i >= 0; --i) {
    code = code * kStates + static_cast<std::size_t>(states[i]);
  }
  return code;
}

Posterior normalised(Posterior posterior) {
  const double sum = std::accumulate(posterior.begin(), posterior.end(), 0.0);
  if (sum > 0) {
    for (double& probability : posterior) probability /= sum;
  }
  return posterior;
}

// ---- Genome-wide --------------------------------------------------------------------------------

// The joint probabilities for one rate class: [outgroups' bases][ancestor's base].
std::vector<double> ancestor_probabilities(const History& history, const MutationModel& model,
                                           const JobControl& control) {
  const FocalBranch branch(history.focal_lineages, history.focal_epochs(), model.rates);
  const int most = branch.most_left(kNegligible);
  check_most(history, most);
  std::vector<LineageState> starts = {starting_state(FocalStage::kOne, 0, 0, history.outgroups())};
  for (int k = 2; k <= most; ++k) {
    starts.push_back(starting_state(FocalStage::kSeveral, k, 0, history.outgroups()));
  }
  const auto tables = descend(history, model, FocalData::kLeftOut, starts, control);
  std::vector<double> result(tables[0].size());
  for (std::size_t i = 0; i < result.size(); i += kBases) {
    for (std::size_t old = 0; old < kBases; ++old) {
      for (std::size_t base = 0; base < kBases; ++base) {
        result[i + base] += tables[0][i + old] * branch.stem()[old][base];
      }
    }
  }
  for (int k = 2; k <= most; ++k) {
    const auto several = label_last(tables[static_cast<std::size_t>(k - 1)], kBases);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += branch.reach(k) * several[i];
  }
  return result;
}

// ---- Polymorphic sites --------------------------------------------------------------------------

}  // namespace

// The joint probabilities of the outgroups' pattern and the ancestral (and derived) base, given the
// focal lineages and their alleles at the first split.
class AlleleTables {
 public:
  AlleleTables(const History& history, const MutationModel& model, int most,
               const JobControl& control)
      : most_(most) {
    const int outgroups = history.outgroups();
    std::vector<LineageState> starts = {starting_state(FocalStage::kOne, 0, 0, outgroups)};
    for (int k = 2; k <= most; ++k) {
      starts.push_back(starting_state(FocalStage::kSeveral, k, 0, outgroups));
    }
    for (int k = 2; k <= most; ++k) {
      for (int carried = 1; carried < k; ++carried) {
        splits_.emplace_back(k - carried, carried);
        starts.push_back(starting_state(FocalStage::kMutated, k - carried, carried, outgroups));
      }
    }
    const auto tables = descend(history, model, FocalData::kAlleles, starts, control);
    one_ = by_pattern(tables[0], outgroups, kBases);
    several_ = gathered(tables, 1, static_cast<std::size_t>(most), kBases, outgroups);
    mutated_ =
        gathered(tables, static_cast<std::size_t>(most), tables.size(), kAllelePairs, outgroups);
  }

  int most() const { return most_; }
  // Counts of lineages (kept, carried) at the split if the mutation is older than the split.
  const std::vector<std::pair<int, int>>& splits() const { return splits_; }
  // [z]: one lineage, of base z
  const double* one(std::size_t pattern) const { return one_.data() + pattern * kBases; }
  // [k - 2]: k lineages without the mutation, whose common ancestor has `base`
  const double* several(std::size_t pattern, std::size_t base) const {
    return several_.data() + (pattern * kBases + base) * (static_cast<std::size_t>(most_) - 1);
  }
  // [i]: the lineages splits()[i]
  const double* mutated(std::size_t pattern, std::size_t ancestral, std::size_t derived) const {
    return mutated_.data() + ((pattern * kBases + ancestral) * kBases + derived) * splits_.size();
  }

 private:
  // Joins tables[begin] to tables[end - 1]: [pattern][labels][table].
  static std::vector<double> gathered(const std::vector<std::vector<double>>& tables,
                                      std::size_t begin, std::size_t end, std::size_t labels,
                                      int outgroups) {
    std::vector<double> result(power(kStates, outgroups) * labels * (end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      const auto table = by_pattern(label_last(tables[i], labels), outgroups, labels);
      for (std::size_t j = 0; j < table.size(); ++j) {
        result[j * (end - begin) + i - begin] = table[j];
      }
    }
    return result;
  }

  int most_;
  std::vector<std::pair<int, int>> splits_;
  std::vector<double> one_;
  std::vector<double> several_;
  std::vector<double> mutated_;
};

// The joint probabilities of the sample, with `copies` of the derived allele (or any number with
// both alleles), and its lineages at the split.
struct SampleWeights {
  std::vector<double> older;   // [AlleleTables::splits()]: the mutation is older than the split
  FocalBranch::Mutated newer;  // the mutation is younger, at rate 1

  static std::size_t numbers(const AlleleTables& tables) {
    return tables.splits().size() + static_cast<std::size_t>(tables.most());
  }

  SampleWeights(const FocalBranch& branch, const AlleleTables& tables, std::optional<int> copies)
      : newer(branch.mutated(copies, std::min(tables.most(), branch.lineages()))) {
    for (const auto& [kept, carried] : tables.splits()) {
      older.push_back(branch.split_sample(copies, kept, carried));
    }
  }

  double likelihood(const AlleleTables& tables, const RateMatrix& rates, std::size_t pattern,
                    std::size_t ancestral, std::size_t derived) const {
    const double* mutated = tables.mutated(pattern, ancestral, derived);
    const double before = std::inner_product(older.begin(), older.end(), mutated, 0.0);
    double after = std::inner_product(newer.left.begin() + 2, newer.left.end(),
                                      tables.several(pattern, ancestral), 0.0);
    for (std::size_t old = 0; old < kBases; ++old) {
      after += tables.one(pattern)[old] * newer.stem[old][ancestral];
    }
    return before + rates[ancestral][derived] * after;
  }
};

namespace {

// The order of the sites by sample size, then by allele count, which uses the cache best.
std::vector<std::size_t> by_counts(const std::vector<PolymorphicSite>& sites) {
  std::vector<std::size_t> order(sites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(sites[a].haplotypes, sites[a].copies) <
           std::tie(sites[b].haplotypes, sites[b].copies);
  });
  return order;
}

bool is_polymorphic(const PolymorphicSite& site) {
  return !site.copies || (*site.copies > 0 && *site.copies < site.haplotypes);
}

void check(const std::vector<PolymorphicSite>& sites, std::int64_t patterns) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto& site = sites[i];
    const std::string which = "site " + std::to_string(i + 1);
    if (site.pattern < 0 || site.pattern >= patterns) {
      throw InputError(which + " has pattern " + std::to_string(site.pattern) + "; there are " +
                       std::to_string(patterns));
    }
    for (const int allele : site.alleles) {
      if (allele < 0 || allele >= kBases)
        throw InputError(which + " has an allele that is not a base");
    }
    if (site.haplotypes > kMostHaplotypes) {
      throw InputError(which + " has " + std::to_string(site.haplotypes) +
                       " haplotypes; the maximum is " + std::to_string(kMostHaplotypes) +
                       ": draw fewer");
    }
    if (site.alleles[0] == site.alleles[1]) throw InputError(which + " has the same allele twice");
    if (!site.copies && site.haplotypes < 2) {
      throw InputError(which + " varies, but has " + std::to_string(site.haplotypes) +
                       " haplotypes; at least 2 are needed");
    }
    if (site.copies && (*site.copies < 0 || *site.copies > site.haplotypes)) {
      throw InputError(which + " has " + std::to_string(*site.copies) +
                       " copies of the second allele among " + std::to_string(site.haplotypes) +
                       " haplotypes");
    }
  }
}

MutationModel of_class(const MutationModel& model, const RateClass& rate_class) {
  return {scaled(model.rates, rate_class.rate), model.frequencies, {}};
}

}  // namespace

AncestorTable ancestor_table(const History& history, const MutationModel& model,
                             const JobControl& control) {
  check(history);
  check_mutations(history, model);
  AncestorTable table(power(kStates, history.outgroups()), Posterior{});
  for (const auto& rate_class : model.classes) {
    const auto probabilities =
        by_pattern(ancestor_probabilities(history, of_class(model, rate_class), control),
                   history.outgroups(), kBases);
    for (std::size_t i = 0; i < table.size(); ++i) {
      for (std::size_t base = 0; base < kBases; ++base) {
        table[i][base] += rate_class.share * probabilities[i * kBases + base];
      }
    }
  }
  return table;
}

CoalescentMethod::CoalescentMethod(const History& history, const MutationModel& model,
                                   const Thresholds& thresholds, const JobControl& control)
    : species_(history.outgroups()),
      thresholds_(thresholds),
      table_(ancestor_table(history, model, control)) {
  check_thresholds(thresholds);
  for (auto& posterior : table_) posterior = normalised(posterior);
}

SiteCall CoalescentMethod::call(const int* states) const {
  const std::size_t pattern = pattern_code(states, species_);
  if (pattern == table_.size() - 1) return {};  // all missing
  const Posterior& posterior = table_[pattern];
  const bool possible =
      std::any_of(posterior.begin(), posterior.end(), [](double p) { return p > 0; });
  return possible ? call_by_posterior(posterior, thresholds_) : SiteCall{'n', {}};
}

std::vector<double> pattern_probabilities(const History& history, const MutationModel& model,
                                          const JobControl& control) {
  History one = history;
  one.focal_lineages = 1;
  const AncestorTable table = ancestor_table(one, model, control);
  std::vector<double> result;
  for (std::size_t base = 0; base < kBases; ++base) {
    for (const auto& of_base : table) result.push_back(of_base[base]);
  }
  for (const auto& of_base : table) {
    result.push_back(std::accumulate(of_base.begin(), of_base.end(), 0.0));
  }
  return result;
}

std::vector<double> sample_probabilities(const History& history, const MutationModel& model,
                                         int haplotypes, const JobControl& control) {
  check(history);
  check_mutations(history, model);
  if (haplotypes < 2) throw InputError("a sample needs 2 or more haplotypes to vary");
  const std::size_t patterns = power(kStates, history.outgroups());
  const std::size_t of_copies = patterns * kAllelePairs;
  std::vector<double> result(of_copies * static_cast<std::size_t>(haplotypes - 1));
  for (const auto& rate_class : model.classes) {
    const MutationModel of = of_class(model, rate_class);
    const FocalBranch branch(haplotypes, history.focal_epochs(), of.rates);
    const int most = std::max(2, branch.most_left(kNegligiblePolymorphic));
    check_most(history, most);
    const AlleleTables tables(history, of, most, control);
    double* next = result.data();
    for (int copies = 1; copies < haplotypes; ++copies) {
      const SampleWeights weights(branch, tables, copies);
      for (std::size_t pair = 0; pair < kAllelePairs; ++pair, next += patterns) {
        const std::size_t a = pair % kBases;
        const std::size_t d = pair / kBases;
        if (a == d) continue;
        for (std::size_t i = 0; i < patterns; ++i) {
          next[i] += rate_class.share * weights.likelihood(tables, of.rates, i, a, d);
        }
      }
    }
  }
  return result;
}

class SitePolariser::Impl {
 public:
  Impl(const History& history, const MutationModel& model, int most_haplotypes,
       const JobControl& control)
      : history_(history), model_(model), most_haplotypes_(most_haplotypes), control_(control) {}

  // Makes the tables on first use.
  void prepare(const JobControl& control) {
    if (!classes_.empty()) return;
    for (const auto& rate_class : model_.classes) {
      const MutationModel model = of_class(model_, rate_class);
      const FocalBranch branch = branch_of(most_haplotypes_, model);
      const int most = std::max(2, branch.most_left(kNegligiblePolymorphic));
      check_most(history_, most);
      classes_.push_back({rate_class.share, model, AlleleTables(history_, model, most, control)});
    }
  }

  Posterior posterior(const PolymorphicSite& site) {
    Posterior sums = {};
    const auto a = static_cast<std::size_t>(site.alleles[0]);
    const auto b = static_cast<std::size_t>(site.alleles[1]);
    // For a sample with one allele: with at most one mutation, the ancestor has this allele.
    if (site.copies == 0) sums[a] = 1;
    if (site.copies == site.haplotypes) sums[b] = 1;
    if (!is_polymorphic(site)) return sums;
    prepare(control_);
    auto other = site.copies;
    if (other) other = site.haplotypes - *other;
    const auto second = weights(site.haplotypes, site.copies);
    const auto first = weights(site.haplotypes, other);
    const auto pattern = static_cast<std::size_t>(site.pattern);
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const auto& [share, model, tables] = classes_[i];
      sums[a] += share * (*second)[i].likelihood(tables, model.rates, pattern, a, b);
      sums[b] += share * (*first)[i].likelihood(tables, model.rates, pattern, b, a);
    }
    return normalised(sums);
  }

 private:
  struct Class {
    double share;
    MutationModel model;
    AlleleTables tables;
  };

  FocalBranch branch_of(int haplotypes, const MutationModel& model) const {
    return {haplotypes, history_.focal_epochs(), model.rates};
  }

  using Weights = std::vector<SampleWeights>;  // of each rate class
  using Branches = std::vector<FocalBranch>;   // of each rate class

  // For `copies` of the derived allele. Threads compute them outside the lock, as this takes long.
  std::shared_ptr<const Weights> weights(int haplotypes, std::optional<int> copies) {
    const std::pair key(haplotypes, copies);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = weights_.find(key);
      if (found != weights_.end()) return found->second;
    }
    if (control_.stop_requested()) throw Interrupted();
    const auto branches = this->branches(haplotypes);
    const auto made = std::make_shared<Weights>();
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      made->emplace_back((*branches)[i], classes_[i].tables, copies);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    forget_if_many();
    weights_.emplace(key, made);
    return made;
  }

  // A cache of at most 2^18 lineages, which take half a kilobyte each.
  std::shared_ptr<const Branches> branches(int haplotypes) {
    constexpr std::size_t most_lineages = std::size_t{1} << 18;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = branches_.find(haplotypes);
      if (found != branches_.end()) return found->second;
    }
    const auto made = std::make_shared<Branches>();
    for (const auto& one : classes_) made->push_back(branch_of(haplotypes, one.model));
    const std::size_t lineages = classes_.size() * static_cast<std::size_t>(haplotypes) *
                                 (history_.focal_changes.size() + 1);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (lineages_ + lineages > most_lineages) {
      branches_.clear();
      lineages_ = 0;
    }
    if (branches_.emplace(haplotypes, made).second) lineages_ += lineages;
    return made;
  }

  // Empties the cache of weights when it exceeds 32 megabytes.
  void forget_if_many() {
    constexpr std::size_t most_numbers = std::size_t{1} << 22;
    std::size_t numbers = 0;
    for (const auto& one : classes_) numbers += SampleWeights::numbers(one.tables);
    if (weights_.size() * numbers > most_numbers) weights_.clear();
  }

  History history_;
  MutationModel model_;
  int most_haplotypes_;
  const JobControl& control_;
  std::vector<Class> classes_;  // made on first use

  std::mutex mutex_;  // of the caches
  std::map<std::pair<int, std::optional<int>>, std::shared_ptr<const Weights>> weights_;
  std::map<int, std::shared_ptr<const Branches>> branches_;  // by haplotypes
  std::size_t lineages_ = 0;                                 // in branches_
};

SitePolariser::SitePolariser(const History& history, const MutationModels& models,
                             int most_haplotypes, const JobControl& control)
    : most_haplotypes_(most_haplotypes) {
  check(history);
  for (const MutationModel& model : models) {
    check_mutations(history, model);
    impls_.push_back(std::make_unique<Impl>(history, model, most_haplotypes, control));
  }
}
SitePolariser::~SitePolariser() = default;

void SitePolariser::prepare(const JobControl& control) {
  for (const auto& impl : impls_) impl->prepare(control);
}

Posterior SitePolariser::posterior(const PolymorphicSite& site) {
  const auto of_class = impls_.size() > 1 ? static_cast<std::size_t>(site.neighbours) : 0;
  return impls_[of_class]->posterior(site);
}

std::vector<Posterior> polarise(const History& history, const MutationModels& models,
                                const std::vector<PolymorphicSite>& sites,
                                const JobControl& control) {
  int most_haplotypes = 1;
  for (const auto& site : sites) {
    if (is_polymorphic(site)) most_haplotypes = std::max(most_haplotypes, site.haplotypes);
  }
  SitePolariser polariser(history, models, most_haplotypes, control);
  check(sites, static_cast<std::int64_t>(power(kStates, history.outgroups())));
  std::vector<Posterior> result(sites.size());
  for (const std::size_t i : by_counts(sites)) result[i] = polariser.posterior(sites[i]);
  return result;
}

}  // namespace ancify
