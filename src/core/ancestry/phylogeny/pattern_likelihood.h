// The likelihood of a genome's pattern counts under a tree and a substitution model, for fitting
// models.
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

// The log-likelihood at some lengths and model, and its derivatives: by the transition
// probabilities of each node and rate class, and by each term (share of a class times frequency of
// a base) of the sum at the root.
struct Slope {
  double log_likelihood = 0;
  std::vector<Transitions> by_transitions;  // [node * classes + class]
  std::vector<Posterior> at_root;           // [class]
};

// Built once for a tree's shape and the patterns, then evaluated for many lengths and models.
// Patterns that are equal below a node are computed once there.
class PatternLikelihood {
 public:
  // The leaves of the patterns are the tree's species in their order, then optionally the focal
  // species. InputError for any other number of leaves, or if the tree lacks the focal species.
  PatternLikelihood(const Tree& tree, const PatternCounts& patterns);

  // Sum over patterns of count times log probability; minus infinity if a pattern has probability
  // 0. lengths[i] is the length of the branch above node i, in the order of the nodes that the tree
  // was made from. The root's length is ignored. InputError if a length is negative or not finite.
  // The sum is the same at any number of threads.
  double log_likelihood(const std::vector<double>& lengths, const SubstitutionModel& model,
                        int threads, JobControl& control) const;

  // The derivatives, at about three times the cost. They are meaningless at minus infinity.
  Slope slope(const std::vector<double>& lengths, const SubstitutionModel& model, int threads,
              JobControl& control) const;

  // For each node, in the order of the nodes that the tree was made from: the expected number of
  // sites with base a above its branch and b below, at [a][b], given all leaves. Sites where a leaf
  // has no base are not counted on its branch, and the root has no branch. InputError if a pattern
  // has probability 0.
  std::vector<Transitions> changes(const std::vector<double>& lengths,
                                   const SubstitutionModel& model, int threads,
                                   JobControl& control) const;

  // The linear function of transition probabilities and root terms that has the derivatives of
  // `slope`. It costs next to nothing, so its differences give the gradient by any parameter.
  // InputError unless the model has as many rate classes as `slope`.
  double linearised(const Slope& slope, const std::vector<double>& lengths,
                    const SubstitutionModel& model) const;

 private:
  // A block of patterns. Patterns that are equal below an inner node are one there.
  struct Node {
    std::size_t distinct = 0;
    std::vector<std::uint32_t> children;  // [distinct pattern * children + child]: child's number
  };
  struct Block {
    std::vector<Node> nodes;
    std::vector<double> counts;  // of the distinct patterns at the root
  };
  // For each distinct pattern of a node, class by class: the partials below and above the node's
  // branch (the root has no branch), and how often they were scaled up.
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
