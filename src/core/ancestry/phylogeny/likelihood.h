// The ancestral base's posterior under a substitution model on a tree (Felsenstein 1981).
#pragma once

#include <cstddef>
#include <vector>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// The marginal posterior at the root of tree.rooted_at_call(), given all outgroups; equilibrium
// frequencies are the prior at the root, and so, as the model is reversible, at every node. A
// pattern that the model says cannot be (two bases and no length between them) is n, without a
// posterior.
class Likelihood : public Method {
 public:
  // InputError if a branch has no length, or the thresholds are none.
  Likelihood(const Tree& tree, const SubstitutionModel& model, const Thresholds& thresholds);
  int species() const override { return tree_.species(); }
  SiteCall call(const int* states) const override;

 private:
  Tree tree_;
  SubstitutionModel model_;
  Thresholds thresholds_;
  std::vector<Transitions> transitions_;  // of node i's branch for rate class c: [i * classes + c]
};

// What data below a node say of its base: their probability given A, C, G, T, each but for a power
// of two that all share, so that hundreds of leaves do not underflow.
using Partial = std::array<double, kBases>;

// Multiplies n partials (of the rate classes) by what comes along a branch.
void multiply(Partial* partials, const Partial* message, std::size_t n);

// Where all n partials are small, scales them up by kScale; gives how many times (0 or 1).
int scale_up(Partial* partials, std::size_t n);
constexpr int kScaleBits = 512;

// The probability of data below a branch given the base above it, from that given the base below.
Partial along_branch(const Transitions& transitions, const Partial& below);

// The same for a leaf with this state.
Partial along_branch(const Transitions& transitions, int state);

}  // namespace ancify
