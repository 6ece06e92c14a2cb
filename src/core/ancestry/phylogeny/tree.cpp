// Checks and orders the nodes of a tree, and roots it at the node where the call is made.
#include "core/ancestry/phylogeny/tree.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Nodes without a name are numbered from 1.
std::string name_of(const TreeNode& node, std::size_t index) {
  return node.name.empty() ? "node " + std::to_string(index + 1) : "'" + node.name + "'";
}

}  // namespace

Tree::Tree(const std::vector<TreeNode>& nodes, int species, int called) : species_(species) {
  if (species < 1) throw InputError("a tree needs at least one outgroup");
  check_shape(nodes);
  order(nodes);
  check_leaves();
  check_lengths();
  if (called != kNodeOfFocal) set_called(called);
}

void Tree::set_called(int called) {
  const auto at = std::find(given_as_.begin(), given_as_.end(), called);
  if (at == given_as_.end()) throw InputError("the node to call is not in the tree");
  called_ = static_cast<int>(at - given_as_.begin());
  if (children_[static_cast<std::size_t>(called_)] == 0) {
    throw InputError("the node to call, " + name(static_cast<std::size_t>(called_)) +
                     ", is a leaf; it must be an ancestor");
  }
}

void Tree::check_shape(const std::vector<TreeNode>& nodes) const {
  const auto n = static_cast<int>(nodes.size());
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int parent = nodes[i].parent;
    if (parent == kNoParent) {
      roots.push_back(i);
    } else if (parent < 0 || parent >= n) {
      throw InputError("the parent of " + name_of(nodes[i], i) + " is not a node of the tree");
    }
  }
  if (roots.empty()) throw InputError("the tree has no root");
  if (roots.size() > 1) {
    throw InputError("the tree has more than one root: " + name_of(nodes[roots[0]], roots[0]) +
                     " and " + name_of(nodes[roots[1]], roots[1]));
  }
}

// Removes nodes whose children are all removed (Kahn's algorithm). The nodes of a cycle stay.
void Tree::order(const std::vector<TreeNode>& nodes) {
  std::vector<int> left(nodes.size(), 0);
  for (const auto& node : nodes) {
    if (node.parent != kNoParent) ++left[static_cast<std::size_t>(node.parent)];
  }
  const std::vector<int> children = left;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (left[i] == 0) given_as_.push_back(static_cast<int>(i));
  }
  for (std::size_t at = 0; at < given_as_.size(); ++at) {
    const int parent = nodes[static_cast<std::size_t>(given_as_[at])].parent;
    if (parent != kNoParent && --left[static_cast<std::size_t>(parent)] == 0) {
      given_as_.push_back(parent);
    }
  }
  if (given_as_.size() < nodes.size()) {
    const auto in_cycle = static_cast<std::size_t>(
        std::find_if(left.begin(), left.end(), [](int n) { return n > 0; }) - left.begin());
    throw InputError("the tree has a cycle, at or above " + name_of(nodes[in_cycle], in_cycle));
  }
  std::vector<int> position(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    position[static_cast<std::size_t>(given_as_[i])] = static_cast<int>(i);
  }
  for (const int given : given_as_) {
    nodes_.push_back(nodes[static_cast<std::size_t>(given)]);
    children_.push_back(children[static_cast<std::size_t>(given)]);
    int& parent = nodes_.back().parent;
    if (parent != kNoParent) parent = position[static_cast<std::size_t>(parent)];
  }
}

std::string Tree::name(std::size_t node) const {
  return name_of(nodes_[node], static_cast<std::size_t>(given_as_[node]));
}

void Tree::check_leaves() {
  std::vector<int> seen(static_cast<std::size_t>(species_), 0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int leaf = nodes_[i].leaf;
    if (children_[i] > 0) {
      if (leaf == kNoLeaf) continue;
      throw InputError("in the tree, the species " + name(i) + " is not a leaf");
    }
    if (leaf == kFocalLeaf) {
      if (has_focal()) throw InputError("the focal species is in the tree more than once");
      focal_ = static_cast<int>(i);
    } else if (leaf < 0 || leaf >= species_) {
      throw InputError("the tree's leaf " + name(i) +
                       " is neither an outgroup nor the focal "
                       "species");
    } else if (seen[static_cast<std::size_t>(leaf)]++ > 0) {
      throw InputError("the outgroup " + name(i) + " is in the tree more than once");
    }
  }
  const auto absent = std::find(seen.begin(), seen.end(), 0);
  if (absent != seen.end()) {
    throw InputError("outgroup " + std::to_string(std::distance(seen.begin(), absent) + 1) +
                     " is not in the tree");
  }
}

void Tree::check_lengths() const {
  for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
    const double length = nodes_[i].length;
    if (length < 0 || std::isinf(length)) {
      throw InputError("in the tree, the branch above " + name(i) + " has the length " +
                       number_text(length) + "; it must be finite and not below 0");
    }
  }
}

void Tree::require_lengths() const {
  for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
    if (std::isnan(nodes_[i].length)) {
      throw InputError("in the tree, the branch above " + name(i) +
                       " has no length: give one, or have the lengths estimated");
    }
  }
}

Tree Tree::rooted_at_call() const {
  std::vector<TreeNode> nodes = nodes_;
  std::vector<int> children = children_;
  std::vector<bool> gone(nodes.size(), false);
  // Returns the node's parent, which loses a child.
  const auto remove = [&](int node) {
    gone[static_cast<std::size_t>(node)] = true;
    const int parent = nodes[static_cast<std::size_t>(node)].parent;
    --children[static_cast<std::size_t>(parent)];
    return parent;
  };
  int root = static_cast<int>(nodes.size()) - 1;
  if (has_focal()) {
    int joined = focal_;
    do joined = remove(joined);
    while (children[static_cast<std::size_t>(joined)] == 0 && joined != called_);
    root = joined;
  }
  if (called_ != kNodeOfFocal) root = called_;

  // Reverses the branches from the new root to the old one.
  int below = kNoParent;
  double length = nodes.back().length;
  for (int node = root; node != kNoParent;) {
    TreeNode& here = nodes[static_cast<std::size_t>(node)];
    std::swap(here.length, length);
    const int above = std::exchange(here.parent, below);
    if (above != kNoParent) {
      ++children[static_cast<std::size_t>(node)];
      --children[static_cast<std::size_t>(above)];
    }
    below = std::exchange(node, above);
  }
  // Removes an old root that has become a leaf.
  for (int node = below; children[static_cast<std::size_t>(node)] == 0 && node != root;) {
    node = remove(node);
  }

  std::vector<int> position(nodes.size(), kNoParent);
  std::vector<TreeNode> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (gone[i]) continue;
    position[i] = static_cast<int>(kept.size());
    kept.push_back(nodes[i]);
  }
  for (auto& node : kept) {
    if (node.parent != kNoParent) node.parent = position[static_cast<std::size_t>(node.parent)];
  }
  return {kept, species_};
}

}  // namespace ancify
