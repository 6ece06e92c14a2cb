// The posterior of the ancestral base under a substitution model on a tree (Felsenstein 1981).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// The marginal posterior at the root of tree.rooted_at_call(), given all outgroups. The prior is
// the model's equilibrium frequencies: the model is reversible, so they hold at every node. A
// pattern of probability 0 (two bases with no branch length between them) is called n, without a
// posterior.
class Likelihood : public Method {
 public:
  // InputError if a branch has no length, or if check_thresholds() fails.
  Likelihood(const Tree& tree, const SubstitutionModel& model, const Thresholds& thresholds);
  int species() const override { return tree_.species(); }
  SiteCall call(const int* states) const override;
  void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                  SiteCall* calls) const override;
  bool fast_in_batches() const override { return true; }

 private:
  void prune(const std::uint8_t* states, std::size_t n, SimdLevel level, double* joint) const;

  Tree tree_;
  SubstitutionModel model_;
  Thresholds thresholds_;
  std::vector<Transitions> transitions_;  // [node * classes + class], of the branch above
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

// The same for a leaf with this state, which may be kMissing.
Partial along_branch(const Transitions& transitions, int state);

}  // namespace ancify
