// Checks the validation, order and re-rooting of trees.
#include "core/ancestry/phylogeny/tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/exec/errors.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

TreeNode node(int parent, double length, int leaf, const std::string& name = "") {
  return {parent, length, leaf, name};
}

// ((focal:1,chimp:2):3,gorilla:4);
std::vector<TreeNode> great_apes() {
  return {node(2, 1, kFocalLeaf, "human"), node(2, 2, 0, "chimp"), node(3, 3, kNoLeaf),
          node(kNoParent, 0, kNoLeaf), node(3, 4, 1, "gorilla")};
}

void expect_error(const std::vector<TreeNode>& nodes, int species, const std::string& part) {
  const auto message = test::message_of<InputError>([&] { Tree(nodes, species); });
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Tree, OrdersNodesChildrenFirst) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int species = 1 + static_cast<int>(random() % 9);
    const auto given = test::random_nodes(species, random() % 2 == 0, random);
    const Tree tree(given, species);
    ASSERT_EQ(tree.nodes().size(), given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto& mine = tree.nodes()[i];
      const auto& theirs = given[static_cast<std::size_t>(tree.given_as()[i])];
      EXPECT_EQ(mine.leaf, theirs.leaf);
      EXPECT_EQ(mine.parent == kNoParent, i + 1 == given.size());
      if (mine.parent == kNoParent) continue;
      EXPECT_GT(mine.parent, static_cast<int>(i));
      EXPECT_EQ(mine.length, theirs.length);
      EXPECT_EQ(tree.given_as()[static_cast<std::size_t>(mine.parent)], theirs.parent);
    }
  }
}

// The distance between two leaves does not depend on the root.
TEST(Tree, KeepsDistancesWhenRootedAtTheCall) {
  const auto distance = [](const Tree& tree, int from, int to) {
    const auto& nodes = tree.nodes();
    std::vector<double> above(nodes.size(), -1);
    double sum = 0;
    std::size_t at = 0;
    while (nodes[at].leaf != from) ++at;
    for (;; at = static_cast<std::size_t>(nodes[at].parent)) {
      above[at] = sum;
      if (nodes[at].parent == kNoParent) break;
      sum += nodes[at].length;
    }
    for (sum = 0, at = 0; nodes[at].leaf != to;) ++at;
    for (; above[at] < 0; at = static_cast<std::size_t>(nodes[at].parent)) sum += nodes[at].length;
    return sum + above[at];
  };
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const int species = 1 + static_cast<int>(random() % 7);
    const auto given = test::random_nodes(species, round % 4 != 0, random);
    const int called = test::random_called(given, random);
    const Tree tree(given, species, called);
    const Tree rooted = tree.rooted_at_call();
    EXPECT_FALSE(rooted.has_focal());
    EXPECT_EQ(rooted.species(), species);
    for (int a = 0; a < species; ++a) {
      for (int b = 0; b < a; ++b) {
        EXPECT_NEAR(distance(rooted, a, b), distance(tree, a, b), 1e-12);
      }
    }
    // The new root is the node of the call, so distances from it are unchanged.
    if (!tree.has_focal()) continue;
    auto at_call = given;
    const auto call = static_cast<int>(test::node_of_call(given, called));
    for (auto& other : at_call) {
      if (other.leaf == kFocalLeaf) {
        other.parent = call;
        other.length = 0;
      }
    }
    // Remove inner nodes that have lost all children, as they only led to the focal leaf.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < at_call.size(); ++i) {
        if (at_call[i].leaf != kNoLeaf || test::children_of(at_call, static_cast<int>(i)) > 0) {
          continue;
        }
        at_call.erase(at_call.begin() + static_cast<std::ptrdiff_t>(i));
        for (auto& other : at_call) other.parent -= other.parent > static_cast<int>(i) ? 1 : 0;
        changed = true;
        break;
      }
    }
    const Tree focal_at_call(at_call, species);
    for (int s = 0; s < species; ++s) {
      double to_root = 0;
      const auto& nodes = rooted.nodes();
      std::size_t at = 0;
      while (nodes[at].leaf != s) ++at;
      for (; nodes[at].parent != kNoParent; at = static_cast<std::size_t>(nodes[at].parent)) {
        to_root += nodes[at].length;
      }
      EXPECT_NEAR(to_root, distance(focal_at_call, kFocalLeaf, s), 1e-12);
    }
  }
}

TEST(Tree, IsNotCalledAtALeaf) {
  const auto message = test::message_of<InputError>([] { Tree(great_apes(), 2, 1); });
  EXPECT_NE(message.find("'chimp', is a leaf"), std::string::npos) << message;
  EXPECT_THROW(Tree(great_apes(), 2, 5), InputError);
}

TEST(Tree, RefusesWhatIsNoTree) {
  auto nodes = great_apes();
  nodes[3].parent = 2;
  expect_error(nodes, 2, "no root");
  nodes = great_apes();
  nodes[2].parent = kNoParent;
  expect_error(nodes, 2, "more than one root: node 3 and node 4");
  nodes = great_apes();
  nodes[2].parent = 2;
  expect_error(nodes, 2, "cycle, at or above node 3");
  nodes = great_apes();
  nodes[1].parent = 5;
  expect_error(nodes, 2, "the parent of 'chimp' is not a node");
  expect_error({}, 1, "no root");
  expect_error(great_apes(), 0, "at least one outgroup");
}

TEST(Tree, RefusesLeavesThatAreNotTheSpecies) {
  auto nodes = great_apes();
  nodes[4].leaf = 0;
  expect_error(nodes, 2, "'gorilla' is in the tree more than once");
  nodes = great_apes();
  nodes[4].leaf = 2;
  expect_error(nodes, 2, "'gorilla' is neither an outgroup nor");
  nodes[4].leaf = kNoLeaf;
  expect_error(nodes, 2, "'gorilla' is neither an outgroup nor");
  nodes = great_apes();
  nodes[4].leaf = kFocalLeaf;
  expect_error(nodes, 2, "focal species is in the tree more than once");
  expect_error(great_apes(), 3, "outgroup 3 is not in the tree");
  nodes = great_apes();
  nodes[2].leaf = 2;
  expect_error(nodes, 3, "node 3 is not a leaf");
}

TEST(Tree, RefusesLengthsThatCannotBe) {
  for (const double length : {-0.5, double{INFINITY}, -double{INFINITY}}) {
    auto nodes = great_apes();
    nodes[1].length = length;
    expect_error(nodes, 2, "above 'chimp' has the length ");
    nodes = great_apes();
    nodes[2].length = length;
    expect_error(nodes, 2, "above node 3 has the length ");
    nodes = great_apes();
    nodes[3].length = length;  // the length above the root is ignored
    EXPECT_NO_THROW(Tree(nodes, 2));
  }
  auto nodes = great_apes();
  nodes[2].length = NAN;
  const Tree tree(nodes, 2);
  EXPECT_NE(test::message_of<InputError>([&] { tree.require_lengths(); }).find("above node 3"),
            std::string::npos);
  EXPECT_NO_THROW(Tree(great_apes(), 2).require_lengths());
}

}  // namespace
}  // namespace ancify
