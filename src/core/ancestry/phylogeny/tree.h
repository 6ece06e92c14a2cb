// A rooted tree of the outgroups, and perhaps the focal species. Inner nodes may have any number of
// children, one too.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ancify {

constexpr int kNoParent = -1;   // the root's
constexpr int kNoLeaf = -1;     // what an inner node stands for
constexpr int kFocalLeaf = -2;  // what the focal species' leaf stands for

struct TreeNode {
  int parent = kNoParent;
  // Of the branch to the parent, NaN where it is not known. The root's is not looked at.
  double length = std::numeric_limits<double>::quiet_NaN();
  int leaf = kNoLeaf;  // a leaf's species, counted from 0, or kFocalLeaf
  std::string name;    // for messages; may be empty
};

class Tree {
 public:
  // Nodes in any order, whose parents are indices. InputError unless they are one tree in which
  // each of `species` species is a leaf once, the focal species at most once, and nothing else is a
  // leaf, and unless the lengths that are known are finite and not negative.
  Tree(const std::vector<TreeNode>& nodes, int species);

  // Every node before its parent, the root last.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  // For each of nodes(), its index among the nodes that the tree was made from.
  const std::vector<int>& given_as() const { return given_as_; }
  // What messages call one of nodes().
  std::string name(std::size_t node) const;
  int species() const { return species_; }
  bool has_focal() const { return focal_ != kNoLeaf; }

  // InputError that names a branch without a length.
  void require_lengths() const;

  // The outgroups' tree with the node where the call is made as its root. If the focal species is a
  // leaf, that is the node where its lineage joins the others: nodes with one child on the way up
  // are passed, the focal leaf is left out, and what lay above the node becomes one more child of
  // it, so that the outgroups beyond the old root count as well. Else it is the tree as it is.
  Tree rooted_at_call() const;

 private:
  void check_shape(const std::vector<TreeNode>& nodes) const;
  void order(const std::vector<TreeNode>& nodes);
  void check_leaves();
  void check_lengths() const;

  int species_;
  int focal_ = kNoLeaf;  // the focal leaf's node
  std::vector<TreeNode> nodes_;
  std::vector<int> given_as_;
  std::vector<int> children_;  // how many
};

}  // namespace ancify
