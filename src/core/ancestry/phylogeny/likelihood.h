// The posterior of the ancestral base under a substitution model on a tree (Felsenstein 1981).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// The probability of a leaf's state given the base above its branch; 1 without a state. The second
// form is padded to a register of AVX-512.
struct LeafTable {
  std::array<std::array<double, kBases>, kStates> by_state;
  std::array<std::array<double, 8>, kBases> by_base;
};

// The steps of pruning a tree: inner nodes after all nodes below them, each with its children.
struct PruningPlan {
  struct Child {
    std::size_t node;
    int leaf;  // kNoLeaf for an inner node
  };
  struct Parent {
    std::size_t node;
    std::size_t first;  // of `children`
    std::size_t end;
  };
  std::size_t nodes = 0;
  std::size_t classes = 0;
  std::vector<Parent> parents;
  std::vector<Child> children;
  // Of the branch above a child, at [child * classes + class].
  std::vector<Transitions> transitions;
  std::vector<LeafTable> leaf_tables;
};

// The marginal posterior at the root of tree.rooted_at_call(), given all outgroups. The prior is
// the model's equilibrium frequencies: the model is reversible, so they hold at every node. A
// pattern of probability 0 (two bases with no branch length between them) is called n, without a
// posterior.
class Likelihood : public Method {
 public:
  // InputError if a branch has no length, or if check_thresholds() fails.
  Likelihood(const Tree& tree, const SubstitutionModel& model, const Thresholds& thresholds);
  int species() const override { return species_; }
  SiteCall call(const int* states) const override;
  void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                  SiteCall* calls) const override;

 private:
  void add_child(std::size_t node, int leaf, double length);
  void prune(const std::uint8_t* states, std::size_t n, SimdLevel level, double* joint) const;

  int species_;
  SubstitutionModel model_;
  Thresholds thresholds_;
  PruningPlan plan_;
};

// The probability of the data below a node given A, C, G, T there. All four may share a factor that
// is a power of two, so that hundreds of leaves do not underflow.
using Partial = std::array<double, kBases>;

// Multiplies n partials, one a rate class, by the n messages of a branch.
void multiply(Partial* partials, const Partial* message, std::size_t n);

// Multiplies all n partials by 2^kScaleBits if all are below 2^-kScaleBits. Returns how many times
// (0 or 1).
int scale_up(Partial* partials, std::size_t n);
constexpr int kScaleBits = 512;

// The probability of the data below a branch given the base above it; `below` is given the base
// below it.
Partial along_branch(const Transitions& transitions, const Partial& below);

// As above, for a leaf with this state, which may be kMissing.
Partial along_branch(const Transitions& transitions, int state);

}  // namespace ancify
