// How likely the patterns of a genome are, under a tree and a substitution model: what models are
// fitted by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ancestry/patterns/pattern_counts.h"
#include "core/ancestry/phylogeny/likelihood.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"
#include "core/exec/job_control.h"

namespace ancify {

// The log-likelihood somewhere, and what it depends on: its derivatives by each node's transition
// probabilities, class by class, and by what is summed at the root, the share of each class times
// the frequency of each base.
struct Slope {
  double log_likelihood = 0;
  std::vector<Transitions> by_transitions;  // [node * classes + class]
  std::vector<Posterior> at_root;           // [class]
};

// Made once for a tree's shape and the patterns; then asked for many lengths and models. What
// patterns have in common below a node is computed once.
class PatternLikelihood {
 public:
  // The patterns' leaves are the tree's species in their order, then perhaps the focal species.
  // InputError if there are others, or if the tree knows nothing of the focal leaf.
  PatternLikelihood(const Tree& tree, const PatternCounts& patterns);

  // Sum over patterns of count times log probability. lengths[i] is that of the branch above the
  // i-th of the nodes that the tree was made from (the root's is not looked at); InputError if one
  // is not finite, or negative. Minus infinity where a pattern cannot be. The same at any number of
  // threads.
  double log_likelihood(const std::vector<double>& lengths, const SubstitutionModel& model,
                        int threads, JobControl& control) const;

  // The derivatives, for about three times the work. They mean nothing at minus infinity.
  Slope slope(const std::vector<double>& lengths, const SubstitutionModel& model, int threads,
              JobControl& control) const;

  // A function of lengths and model that has the slope's derivatives where the slope was taken, and
  // costs next to nothing: differences of it give the gradient by any parameter. The number of rate
  // classes must be the slope's.
  double linearised(const Slope& slope, const std::vector<double>& lengths,
                    const SubstitutionModel& model) const;

 private:
  // A run of patterns. At each inner node those that are equal below it are one.
  struct Node {
    std::size_t distinct = 0;
    std::vector<std::uint32_t> children;  // of each distinct one, the children's, child by child
  };
  struct Block {
    std::vector<Node> nodes;
    std::vector<double> counts;  // of the root's distinct ones
  };
  // For each node's distinct ones, class by class, the partials below and above its branch (the
  // root has none), and how often they were scaled.
  struct Partials {
    std::vector<std::vector<Partial>> below;
    std::vector<std::vector<Partial>> above;
    std::vector<std::vector<int>> scaled;
  };

  Block make_block(const PatternCounts& patterns, std::size_t begin, std::size_t end) const;
  std::vector<Transitions> transitions_of(const std::vector<double>& lengths,
                                          const SubstitutionModel& model) const;
  Partials prune(const Block& block, const std::vector<Transitions>& transitions, std::size_t n,
                 bool keep) const;
  double sum_up(const Block& block, const Partials& partials, const SubstitutionModel& model,
                std::vector<double>& probabilities) const;
  Slope slope(const Block& block, const std::vector<Transitions>& transitions,
              const SubstitutionModel& model) const;
  void pass_to_children(const Block& block, const Partials& partials, std::size_t node,
                        std::size_t distinct, const Partial* by_below, std::size_t n,
                        std::vector<std::vector<Partial>>& by_above) const;

  Tree tree_;
  int leaves_;
  std::vector<std::vector<std::size_t>> children_;  // of each node
  std::vector<Block> blocks_;
};

}  // namespace ancify
