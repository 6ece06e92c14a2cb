// Computes W_s(b), the probability that the lineages of state s have bases b, from the root
// downward under the multispecies coalescent (Rannala and Yang 2003, Genetics 164:1645).
//   dW_s/dt = sum over coalescences s -> s' of rate (W_s' - W_s) + sum over lineages of W_s Q
// Here Q has the mutation rates of a lineage's base, and coalescing lineages have equal bases. The
// solution is a series of positive terms.
#include "core/ancestry/coalescent/lineage_space.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/exec/errors.h"

namespace ancify {

namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 27;  // 1 GB, and twice as much for copies

std::size_t lowest_outgroup(unsigned outgroups) {
  std::size_t i = 0;
  while ((outgroups >> i & 1U) == 0) ++i;
  return i;
}

bool is_focal(const Lineage& lineage) { return lineage.kind != LineageKind::kOutgroup; }

int population_of(const Lineage& lineage, const Epoch& epoch) {
  return epoch.population[is_focal(lineage) ? 0 : 1 + lowest_outgroup(lineage.outgroups)];
}

std::vector<std::size_t> strides_of(const LineageState& state) {
  std::vector<std::size_t> strides;
  for (std::size_t stride = state.size(); stride > 1;) strides.push_back(stride /= kBases);
  return strides;
}

double pairs(int n) { return n * (n - 1) / 2.0; }

// A lineage of a draft. `from`: the axes of the original state whose bases it shares.
struct Slot {
  Lineage lineage;
  std::vector<std::size_t> from;
};

void take(std::vector<std::size_t>& to, std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

// A copy of a state, changed by one event backward in time.
class Draft {
 public:
  explicit Draft(const LineageState& state)
      : stage_(state.stage), counts_{state.ancestral, state.derived} {
    std::size_t axis = 0;
    for (; axis < static_cast<std::size_t>(state.labels()); ++axis) labels_[axis] = {axis};
    for (const auto& lineage : state.lineages) {
      slots_.push_back({lineage, {}});
      if (lineage.has_base()) slots_.back().from.push_back(axis++);
    }
  }

  // Each applies an event, and is false if the data do not allow it.
  bool unite(std::size_t i, std::size_t j) {
    Lineage& one = slots_[i].lineage;
    const Lineage& other = slots_[j].lineage;
    if (is_focal(one) && is_focal(other) && one.kind != other.kind) return false;
    one.kind = std::max(one.kind, other.kind);
    one.outgroups |= other.outgroups;
    take(slots_[i].from, slots_[j].from);
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(j));
    settle();
    return true;
  }
  bool unite_counted(int allele) {
    --counts_[allele];
    settle();
    return true;
  }
  bool unite_with_counted(std::size_t i, int allele, LineageKind kind) {
    Lineage& lineage = slots_[i].lineage;
    if (is_focal(lineage) && lineage.kind != kind) return false;
    lineage.kind = kind;
    --counts_[allele];
    settle();
    return true;
  }
  // The only lineage with the derived allele mutates to the ancestral one, backward in time.
  bool mutate() {
    int derived = counts_[1];
    for (const Slot& slot : slots_) derived += slot.lineage.kind == LineageKind::kDerived;
    if (stage_ != FocalStage::kMutated || derived != 1) return false;
    counts_[0] += counts_[1];
    counts_[1] = 0;
    for (Slot& slot : slots_) {
      if (slot.lineage.kind == LineageKind::kDerived) slot.lineage.kind = LineageKind::kAncestral;
    }
    labels_[1].clear();
    stage_ = FocalStage::kSeveral;
    return true;
  }

  LineageState state() {
    std::sort(slots_.begin(), slots_.end(),
              [](const Slot& a, const Slot& b) { return a.lineage < b.lineage; });
    LineageState state = {stage_, counts_[0], counts_[1], {}};
    for (const Slot& slot : slots_) state.lineages.push_back(slot.lineage);
    return state;
  }
  // For each axis of state(), the axes of the original state with the same base.
  std::vector<std::vector<std::size_t>> axes() const {
    std::vector<std::vector<std::size_t>> axes;
    for (const auto& label : labels_) {
      if (!label.empty()) axes.push_back(label);
    }
    for (const Slot& slot : slots_) {
      if (slot.lineage.has_base()) axes.push_back(slot.from);
    }
    return axes;
  }

 private:
  // Gives lineages of known alleles the labels' bases. The last focal lineage gets the first
  // label's, and the stage becomes kOne.
  void settle() {
    int focal = counts_[0] + counts_[1];
    for (Slot& slot : slots_) {
      focal += is_focal(slot.lineage);
      if (slot.lineage.kind == LineageKind::kAncestral) take(labels_[0], slot.from);
      if (slot.lineage.kind == LineageKind::kDerived) take(labels_[1], slot.from);
    }
    if (stage_ != FocalStage::kSeveral || focal > 1) return;
    stage_ = FocalStage::kOne;
    if (counts_[0] == 1) slots_.push_back({{LineageKind::kFocal, 0}, {}});
    counts_[0] = 0;
    const auto last = std::find_if(slots_.begin(), slots_.end(),
                                   [](const Slot& slot) { return is_focal(slot.lineage); });
    last->lineage.kind = LineageKind::kFocal;
    take(last->from, labels_[0]);
  }

  FocalStage stage_;
  int counts_[2];  // ancestral, derived
  std::vector<std::size_t> labels_[2];
  std::vector<Slot> slots_;
};

}  // namespace

int LineageState::labels() const {
  return stage == FocalStage::kMutated ? 2 : stage == FocalStage::kSeveral ? 1 : 0;
}

int LineageState::axes() const {
  return labels() + static_cast<int>(std::count_if(lineages.begin(), lineages.end(),
                                                   [](const Lineage& l) { return l.has_base(); }));
}

bool operator<(const LineageState& a, const LineageState& b) {
  return std::tie(a.stage, a.ancestral, a.derived, a.lineages) <
         std::tie(b.stage, b.ancestral, b.derived, b.lineages);
}

// A coalescence with this rate or, if the rate is 0, the mutation between the two alleles.
struct LineageSpace::Move {
  LineageState to;
  std::vector<std::vector<std::size_t>> axes;
  double rate;
};

LineageSpace::LineageSpace(const std::vector<LineageState>& first, const Epoch& epoch,
                           FocalData data, const MutationModel& model, const JobControl& control)
    : epoch_(epoch), data_(data), model_(model) {
  for (int i = 0; i < kBases; ++i) {
    fastest_mutation_ = std::max(fastest_mutation_, -model.rates[i][i]);
  }
  explore(first, control);
  lay_out(control);
}

std::vector<LineageSpace::Move> LineageSpace::moves(const LineageState& state) const {
  std::vector<Move> result;
  const auto add = [&](Draft& draft, double rate) {
    LineageState to = draft.state();
    result.push_back({std::move(to), draft.axes(), rate});
  };
  for (std::size_t i = 0; i < state.lineages.size(); ++i) {
    const int population = population_of(state.lineages[i], epoch_);
    for (std::size_t j = i + 1; j < state.lineages.size(); ++j) {
      if (population_of(state.lineages[j], epoch_) != population) continue;
      Draft draft(state);
      if (draft.unite(i, j)) add(draft, epoch_.pair_rate[static_cast<std::size_t>(population)]);
    }
  }
  if (epoch_.focal_alone) return result;

  const int home = epoch_.population[0];
  const double rate = epoch_.pair_rate[static_cast<std::size_t>(home)];
  for (const int allele : {0, 1}) {
    const int counted = allele == 0 ? state.ancestral : state.derived;
    const auto kind = data_ == FocalData::kLeftOut ? LineageKind::kFocal
                      : allele == 0                ? LineageKind::kAncestral
                                                   : LineageKind::kDerived;
    if (counted >= 2) {
      Draft draft(state);
      if (draft.unite_counted(allele)) add(draft, pairs(counted) * rate);
    }
    for (std::size_t i = 0; counted > 0 && i < state.lineages.size(); ++i) {
      if (population_of(state.lineages[i], epoch_) != home) continue;
      Draft draft(state);
      if (draft.unite_with_counted(i, allele, kind)) add(draft, counted * rate);
    }
  }
  Draft draft(state);
  if (draft.mutate()) add(draft, 0);
  return result;
}

// The number of lineages in each population.
std::vector<int> LineageSpace::counts(const LineageState& state) const {
  std::vector<int> count(epoch_.pair_rate.size());
  count[static_cast<std::size_t>(epoch_.population[0])] = state.ancestral + state.derived;
  for (const auto& lineage : state.lineages) {
    ++count[static_cast<std::size_t>(population_of(lineage, epoch_))];
  }
  return count;
}

// False if a population without coalescence has several lineages.
bool LineageSpace::possible(const LineageState& state) const {
  const auto count = counts(state);
  for (std::size_t i = 0; i < count.size(); ++i) {
    const bool waits = epoch_.focal_alone && static_cast<int>(i) == epoch_.population[0];
    if (count[i] > 1 && epoch_.pair_rate[i] <= 0 && !waits) return false;
  }
  return true;
}

void LineageSpace::add_state(const LineageState& state) {
  if (!index_.insert({state, 0}).second) return;
  states_.push_back(state);
  size_ += state.size();
  if (size_ > kMostElements) {
    throw InputError(
        "the gene trees of so many outgroups and focal lineages need more than 1 GB of memory; "
        "leave out outgroups, or take fewer focal haplotypes");
  }
}

void LineageSpace::explore(const std::vector<LineageState>& first, const JobControl& control) {
  for (const auto& state : first) {
    if (possible(state)) add_state(state);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (control.stop_requested()) throw Interrupted();
    for (const auto& move : moves(states_[i])) add_state(move.to);
  }
}

void LineageSpace::lay_out(const JobControl& control) {
  // A backward step leads to an earlier state in this order: fewer lineages, or kMutated to
  // kSeveral.
  std::sort(states_.begin(), states_.end(), [](const LineageState& a, const LineageState& b) {
    if (a.count() != b.count()) return a.count() < b.count();
    return a.stage != b.stage ? a.stage > b.stage : a < b;
  });
  std::size_t begin = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    index_[states_[i]] = i;
    begin_.push_back(begin);
    extent_.push_back(states_[i].size());
    begin += extent_.back();
    leaving_.push_back(leaving(states_[i]));
    mutating_.push_back(mutating(states_[i]));
  }
  steps_.resize(states_.size());
  for (const auto& state : states_) {
    if (control.stop_requested()) throw Interrupted();
    add_steps(state);
  }
}

double LineageSpace::leaving(const LineageState& state) const {
  const auto count = counts(state);
  double rate = 0;
  for (std::size_t i = 0; i < count.size(); ++i) rate += pairs(count[i]) * epoch_.pair_rate[i];
  return rate;
}

std::vector<std::size_t> LineageSpace::mutating(const LineageState& state) const {
  std::vector<std::size_t> strides;
  auto stride = strides_of(state);
  auto axis = stride.begin() + state.labels();
  for (const auto& lineage : state.lineages) {
    if (!lineage.has_base()) continue;
    if (!epoch_.focal_alone || !is_focal(lineage)) strides.push_back(*axis);
    ++axis;
  }
  return strides;
}

void LineageSpace::add_steps(const LineageState& source) {
  const std::size_t source_begin = begin(source);
  const auto source_strides = strides_of(source);
  for (const auto& move : moves(source)) {
    const std::size_t target = index_[move.to];
    std::vector<std::size_t> strides;
    for (const auto& from : move.axes) {
      strides.push_back(0);
      for (const auto axis : from) strides.back() += source_strides[axis];
    }
    if (move.rate > 0) {
      steps_[target].push_back({source_begin, begin_[target], move.rate, offsets(strides)});
    } else {
      add_mutation(source_begin, target, strides);
    }
  }
}

// The target lacks the source's second axis, the derived base. This base arose from the ancestral
// one, the first axis of both.
void LineageSpace::add_mutation(std::size_t source, std::size_t target,
                                const std::vector<std::size_t>& strides) {
  const auto* others = offsets({strides.begin() + 1, strides.end()});
  for (std::size_t from = 0; from < kBases; ++from) {
    for (std::size_t to = 0; to < kBases; ++to) {
      if (to == from) continue;
      steps_[target].push_back({source + from * strides[0] + to * (strides[0] / kBases),
                                begin_[target] + from * others->size(), model_.rates[from][to],
                                others});
    }
  }
}

const std::vector<std::uint32_t>* LineageSpace::offsets(const std::vector<std::size_t>& strides) {
  auto& result = offsets_[strides];
  if (result.empty()) {
    result = {0};
    for (const std::size_t stride : strides) {
      std::vector<std::uint32_t> finer;
      for (const auto offset : result) {
        for (std::size_t base = 0; base < kBases; ++base) {
          finer.push_back(offset + static_cast<std::uint32_t>(base * stride));
        }
      }
      result = std::move(finer);
    }
  }
  return &result;
}

std::size_t LineageSpace::begin(const LineageState& state) const {
  const auto found = index_.find(state);
  return found == index_.end() ? kNone : begin_[found->second];
}

// to += from * (mutation rates of the state's lineages)
void LineageSpace::add_mutated(std::size_t state, const double* from, double* to) const {
  const std::size_t size = extent_[state];
  for (const std::size_t stride : mutating_[state]) {
    for (std::size_t block = 0; block < size; block += kBases * stride) {
      for (std::size_t before = 0; before < kBases; ++before) {
        for (std::size_t after = 0; after < kBases; ++after) {
          const double rate = model_.rates[before][after];
          const double* source = from + block + before * stride;
          double* target = to + block + after * stride;
          for (std::size_t i = 0; i < stride; ++i) target[i] += rate * source[i];
        }
      }
    }
  }
}

// Solves weights * (leaving - mutation) = inflow, which `weights` holds before, as a series of
// positive terms. So rare patterns are as precise, relative to their size, as common ones.
void LineageSpace::settle(std::size_t state, double* weights, const JobControl& control) const {
  constexpr double kNegligible = 1e-26;
  const std::size_t size = extent_[state];
  const double mutation = fastest_mutation_ * static_cast<double>(mutating_[state].size());
  const double whole = 1 / (leaving_[state] + mutation);
  std::vector<double> term(weights, weights + size);
  std::vector<double> next(size);
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    weights[i] = term[i] *= whole;
    largest = std::max(largest, weights[i]);
  }
  for (double added = largest; mutation > 0 && added > kNegligible * largest;) {
    if (control.stop_requested()) throw Interrupted();
    for (std::size_t i = 0; i < size; ++i) next[i] = mutation * term[i];
    add_mutated(state, term.data(), next.data());
    added = 0;
    for (std::size_t i = 0; i < size; ++i) {
      term[i] = next[i] * whole;
      weights[i] += term[i];
      added = std::max(added, term[i]);
    }
  }
}

std::vector<double> LineageSpace::from_root(const JobControl& control) const {
  std::vector<double> weights(size_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (control.stop_requested()) throw Interrupted();
    if (states_[i].count() == 1) {
      std::copy(model_.frequencies.begin(), model_.frequencies.end(),
                weights.begin() + static_cast<std::ptrdiff_t>(begin_[i]));
    } else {
      settle(i, weights.data() + begin_[i], control);
    }
    for (const auto& step : steps_[i]) {
      const double* target = weights.data() + step.target;
      double* source = weights.data() + step.source;
      for (std::size_t j = 0; j < step.offsets->size(); ++j) {
        source[(*step.offsets)[j]] += step.rate * target[j];
      }
    }
  }
  return weights;
}

// to = from * (1 + generator / rate)
void LineageSpace::step(const std::vector<double>& from, double rate,
                        std::vector<double>& to) const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const double stay = rate - leaving_[i];
    for (std::size_t j = begin_[i]; j < begin_[i] + extent_[i]; ++j) to[j] = stay * from[j];
    add_mutated(i, from.data() + begin_[i], to.data() + begin_[i]);
  }
  for (const auto& steps : steps_) {
    for (const auto& step : steps) {
      const double* target = from.data() + step.target;
      double* source = to.data() + step.source;
      for (std::size_t j = 0; j < step.offsets->size(); ++j) {
        source[(*step.offsets)[j]] += step.rate * target[j];
      }
    }
  }
  for (double& value : to) value /= rate;
}

// Uniformisation (Jensen 1953, Skand. Aktuarietidskr. 36:87): sums of positive terms only, as in
// settle().
std::vector<double> LineageSpace::down(std::vector<double> weights,
                                       const JobControl& control) const {
  constexpr double kMostEvents = 64;  // expected in a round: exp(-events) is not tiny
  constexpr double kNegligible = 1e-26;
  double rate = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const double mutation = fastest_mutation_ * static_cast<double>(mutating_[i].size());
    rate = std::max(rate, leaving_[i] + 2 * mutation);
  }
  const double all_events = rate * epoch_.length;
  if (all_events <= 0) return weights;
  const auto rounds = static_cast<int>(std::ceil(all_events / kMostEvents));
  const double events = all_events / rounds;
  std::vector<double> next(size_);
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> term = weights;
    double probability = std::exp(-events);
    for (double& value : weights) value *= probability;
    for (int n = 1; n <= events || probability > kNegligible; ++n) {
      if (control.stop_requested()) throw Interrupted();
      step(term, rate, next);
      term.swap(next);
      probability *= events / n;
      for (std::size_t i = 0; i < size_; ++i) weights[i] += probability * term[i];
    }
  }
  return weights;
}

}  // namespace ancify
