// The lineages of a site's gene tree during an epoch between two splits, backward in time. A
// lineage has a base, and outgroups, focal haplotypes or both below it.
//
// All gene trees are summed exactly. The focal haplotypes' bases are not data or, at a polymorphic
// site, follow from the position of the one mutation. So a focal lineage needs a base only if an
// outgroup is below it, and other focal lineages are only counted. However large the sample, there
// are at most as many bases as outgroups.
//
// A state has an array over its lineages' bases, with an axis of length 4 for each. Coalescence and
// mutation are a Markov process over states and bases: the multispecies coalescent (Rannala & Yang
// 2003, Genetics 164:1645), solved without gene trees as by Bryant et al. (2012, Mol. Biol. Evol.
// 29:1917) for two alleles. The adjoint process is followed from the root downward. So the array of
// the state in which every outgroup is its own lineage has the probabilities of all outgroup
// patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/ancestry/coalescent/history.h"
#include "core/exec/job_control.h"

namespace ancify {

// The stage of the focal lineages, backward in time.
enum class FocalStage : std::uint8_t {
  kMutated,  // several, of two alleles, which are counted separately
  kSeveral,  // several, none of which carries the mutation
  kOne       // their common ancestor, or an ancestor of it
};

enum class LineageKind : std::uint8_t {
  kOutgroup,   // ancestor of outgroups only
  kFocal,      // of focal haplotypes and outgroups (at kOne perhaps of none), base unknown
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

// A state. Its array's axes, the slowest first: the base of the focal haplotypes' common ancestor
// (before stage kOne), the derived base (at stage kMutated), and the lineages with has_base(). The
// first two are labels.
struct LineageState {
  FocalStage stage;
  int ancestral;                  // focal lineages with no outgroup below them; none at stage kOne
  int derived;                    // likewise, with the derived allele
  std::vector<Lineage> lineages;  // all others, sorted

  int count() const { return ancestral + derived + static_cast<int>(lineages.size()); }
  int labels() const;
  int axes() const;
  std::size_t size() const { return std::size_t{1} << (2 * static_cast<unsigned>(axes())); }
  friend bool operator<(const LineageState& a, const LineageState& b);
};

// How the focal haplotypes' bases enter the data.
enum class FocalData {
  kLeftOut,  // not at all; focal lineages with outgroups below have bases, which mutate
  kAlleles   // two alleles by one mutation; each focal lineage has one of them
};

// A stretch of time between two splits.
struct Epoch {
  double length;
  std::vector<int> population;    // of each leaf's lineage; leaf 0 is the focal species
  std::vector<double> pair_rate;  // coalescence in each population; 0 where one lineage is left
  bool focal_alone;               // before the first focal split: focal lineages do not change yet
};

class LineageSpace {
 public:
  // Finds all states that the epoch can reach from the states of `first` that are possible at its
  // start. InputError if they take too much memory; Interrupted if `control` stops it.
  LineageSpace(const std::vector<LineageState>& first, const Epoch& epoch, FocalData data,
               const MutationModel& model, const JobControl& control);
  LineageSpace(LineageSpace&&) = default;  // no copies: steps point into a map's nodes

  const std::vector<LineageState>& states() const { return states_; }
  // The offset of a state's array in an array of all states, or kNone.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t begin(const LineageState& state) const;
  std::size_t size() const { return size_; }

  // For an epoch without end: the probabilities at its start, from one lineage at equilibrium
  // downward.
  std::vector<double> from_root(const JobControl& control) const;
  // From `weights` at the epoch's older end to the probabilities at its start.
  std::vector<double> down(std::vector<double> weights, const JobControl& control) const;

 private:
  // A step for all bases: weights[source + offsets[i]] += rate * weights[target + i].
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
  double fastest_mutation_ = 0;       // the highest rate of any base
  std::vector<LineageState> states_;  // sorted from the root down
  std::map<LineageState, std::size_t> index_;
  std::vector<std::size_t> begin_;                  // offset of each state's array
  std::vector<std::size_t> extent_;                 // size of each state's array
  std::vector<double> leaving_;                     // total rate of coalescence
  std::vector<std::vector<std::size_t>> mutating_;  // strides of the axes that mutate
  std::vector<std::vector<Step>> steps_;            // by target
  std::map<std::vector<std::size_t>, std::vector<std::uint32_t>> offsets_;
  std::size_t size_ = 0;
};

}  // namespace ancify
