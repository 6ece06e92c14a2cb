// A rooted tree of the outgroups and, optionally, the focal species. Inner nodes may have any
// number of children, even one.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ancify {

constexpr int kNoParent = -1;     // the root's
constexpr int kNoLeaf = -1;       // of an inner node
constexpr int kFocalLeaf = -2;    // of the focal species' leaf
constexpr int kNodeOfFocal = -1;  // the node called by default

struct TreeNode {
  int parent = kNoParent;
  // Of the branch to the parent; NaN if unknown. The root's is ignored.
  double length = std::numeric_limits<double>::quiet_NaN();
  int leaf = kNoLeaf;  // the species of a leaf, from 0, or kFocalLeaf
  std::string name;    // for messages; may be empty
};

class Tree {
 public:
  // Takes nodes in any order; parents and `called`, the node of the call, are indices. InputError
  // unless the nodes form one tree whose leaves are each of the `species` outgroups once and the
  // focal species at most once. InputError also for a known length that is negative or infinite, or
  // if `called` is no inner node.
  Tree(const std::vector<TreeNode>& nodes, int species, int called = kNodeOfFocal);

  // Every node comes before its parent; the root is last.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  // For each of nodes(), its index in the constructor's argument.
  const std::vector<int>& given_as() const { return given_as_; }
  // The name of one of nodes() in messages.
  std::string name(std::size_t node) const;
  int species() const { return species_; }
  bool has_focal() const { return focal_ != kNoLeaf; }

  // InputError, which names the branch, if a branch has no length.
  void require_lengths() const;

  // The outgroups' tree, rooted at the node where the call is made. By default, this node is where
  // the focal lineage joins the others, above any nodes with one child; without a focal leaf it is
  // the root. The focal leaf is removed, and the part above the node becomes one more child of it.
  // So outgroups beyond the old root count as well.
  Tree rooted_at_call() const;

 private:
  void check_shape(const std::vector<TreeNode>& nodes) const;
  void order(const std::vector<TreeNode>& nodes);
  void check_leaves();
  void check_lengths() const;
  void set_called(int called);

  int species_;
  int focal_ = kNoLeaf;  // the focal leaf's node
  int called_ = kNodeOfFocal;
  std::vector<TreeNode> nodes_;
  std::vector<int> given_as_;
  std::vector<int> children_;  // counts of children
};

}  // namespace ancify
