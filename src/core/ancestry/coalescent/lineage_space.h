// The lineages of a site's gene tree in a stretch of time between two splits, going back: which
// outgroups each is an ancestor of, whether of focal haplotypes too, and its base.
//
// All gene trees are summed exactly. As the focal haplotypes' bases are no data (or, at a
// polymorphic site, follow from where the one mutation is), a focal lineage needs a base only once
// an outgroup hangs below it: however large the sample, only as many bases are kept as there are
// outgroups, and the other focal lineages are counted. A state has an array over its lineages'
// bases, an axis of length 4 each. Coalescence and mutation are a Markov process over states and
// bases (the multispecies coalescent of Rannala & Yang 2003, Genetics 164:1645, solved without
// gene trees as Bryant et al. 2012, Mol. Biol. Evol. 29:1917 did for two alleles), whose adjoint
// is followed from the root downward: so the probabilities of all patterns of the outgroups come
// out at once, as the array of the state in which every outgroup is its own lineage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/ancestry/coalescent/history.h"
#include "core/exec/job_control.h"

namespace ancify {

// How the focal lineages stand, going back in time.
enum class FocalStage : std::uint8_t {
  kMutated,  // several; those of the derived allele are told apart
  kSeveral,  // several, none of which carries the mutation
  kOne       // their common ancestor, or an ancestor of it
};

enum class LineageKind : std::uint8_t {
  kOutgroup,   // ancestor of outgroups alone
  kFocal,      // of focal haplotypes and outgroups (at stage kOne also of none), its base unknown
  kAncestral,  // of both, with the ancestral allele
  kDerived     // of both, with the derived allele
};

struct Lineage {
  LineageKind kind;
  unsigned outgroups;  // bit i: outgroup i

  bool has_base() const { return kind == LineageKind::kOutgroup || kind == LineageKind::kFocal; }
  friend bool operator==(const Lineage& a, const Lineage& b) {
    return a.kind == b.kind && a.outgroups == b.outgroups;
  }
  friend bool operator<(const Lineage& a, const Lineage& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.outgroups < b.outgroups;
  }
};

// The axes of a state's array, the first counting slowest: the base of the focal haplotypes' common
// ancestor (before stage kOne), the derived base (at stage kMutated), the lineages that have one.
struct LineageState {
  FocalStage stage;
  int ancestral;  // focal lineages that are ancestors of no outgroup; at stage kOne none is counted
  int derived;
  std::vector<Lineage> lineages;  // the others, sorted

  int count() const { return ancestral + derived + static_cast<int>(lineages.size()); }
  int labels() const;
  int axes() const;
  std::size_t size() const { return std::size_t{1} << (2 * static_cast<unsigned>(axes())); }
  friend bool operator<(const LineageState& a, const LineageState& b);
};

// What the focal haplotypes' bases are.
enum class FocalData {
  kLeftOut,  // focal lineages with outgroups below have unknown bases, which mutate
  kAlleles   // two alleles by one mutation; all focal lineages have one of the two
};

// A stretch of time between two splits.
struct Epoch {
  double length;
  std::vector<int> population;    // where each leaf's lineage is; leaf 0 is the focal species
  std::vector<double> pair_rate;  // of coalescence in each population; 0 where one lineage is left
  bool focal_alone;  // the focal lineages have not come to their first split: they do nothing yet
};

class LineageSpace {
 public:
  // All states that can be reached in the epoch from those of `first` that can be at its start.
  LineageSpace(const std::vector<LineageState>& first, const Epoch& epoch, FocalData data,
               const MutationModel& model, const JobControl& control);
  LineageSpace(LineageSpace&&) = default;  // steps point into a map's nodes: no copies

  const std::vector<LineageState>& states() const { return states_; }
  // The array of a state within an array of all, or kNone.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t begin(const LineageState& state) const;
  std::size_t size() const { return size_; }

  // The epoch has no end: from the one last lineage, at equilibrium, to the epoch's start.
  std::vector<double> from_root(const JobControl& control) const;
  // From the epoch's end to its start.
  std::vector<double> down(std::vector<double> weights, const JobControl& control) const;

 private:
  // One step back in time, for all bases: weights[source + offset[i]] += rate * weights[target +
  // i].
  struct Step {
    std::size_t source;
    std::size_t target;
    double rate;
    const std::vector<std::uint32_t>* offsets;
  };
  struct Move;

  std::vector<int> counts(const LineageState& state) const;
  bool possible(const LineageState& state) const;
  void add_state(const LineageState& state);
  void explore(const std::vector<LineageState>& first, const JobControl& control);
  void lay_out(const JobControl& control);
  void add_steps(const LineageState& source);
  void add_mutation(std::size_t source, std::size_t target,
                    const std::vector<std::size_t>& strides);
  const std::vector<std::uint32_t>* offsets(const std::vector<std::size_t>& strides);
  double leaving(const LineageState& state) const;
  std::vector<std::size_t> mutating(const LineageState& state) const;
  std::vector<Move> moves(const LineageState& state) const;
  void add_mutated(std::size_t state, const double* from, double* to) const;
  void settle(std::size_t state, double* weights, const JobControl& control) const;
  void step(const std::vector<double>& from, double rate, std::vector<double>& to) const;

  Epoch epoch_;
  FocalData data_;
  MutationModel model_;
  double fastest_mutation_ = 0;       // of a base
  std::vector<LineageState> states_;  // in the order from the root down
  std::map<LineageState, std::size_t> index_;
  std::vector<std::size_t> begin_;                  // of the states' arrays
  std::vector<std::size_t> extent_;                 // and their sizes
  std::vector<double> leaving_;                     // rate of any coalescence
  std::vector<std::vector<std::size_t>> mutating_;  // strides of the axes that mutate
  std::vector<std::vector<Step>> steps_;            // by target
  std::map<std::vector<std::size_t>, std::vector<std::uint32_t>> offsets_;
  std::size_t size_ = 0;
};

}  // namespace ancify
