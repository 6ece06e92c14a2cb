// Fuzzes trees as R gives them: arrays of parents, lengths and leaves. With a valid tree, parsimony
// must call as the slow oracle does, and likelihood must give a valid posterior.
#include "core/ancestry/phylogeny/tree.h"

#include <array>
#include <cmath>

#include "../tests/cpp/ancestry/trees.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

// A byte as the index of a node or leaf; two bytes mean extreme numbers.
int number(char c) {
  constexpr int int_max = std::numeric_limits<int>::max();
  constexpr int int_min = std::numeric_limits<int>::min();  // R's NA
  return c == 127 ? int_max : c == -128 ? int_min : c;
}

double length(char c) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::array<double, 12> odd = {nan,    infinity, -infinity, 0,     -0.0,    5e-324,
                                      1e-300, 1e-12,    1e6,       1e300, 1.7e308, -1};
  const auto i = static_cast<unsigned char>(c);
  return i < odd.size() ? odd[i] : i / 100.0;
}

std::vector<TreeNode> nodes_of(std::string_view bytes) {
  std::vector<TreeNode> nodes;
  for (; bytes.size() >= 3; bytes.remove_prefix(3)) {
    nodes.push_back({number(bytes[0]), length(bytes[2]), number(bytes[1]), ""});
  }
  return nodes;
}

// Checks that nodes come before their parents, and that each species is a leaf.
void check_order(const Tree& tree, bool focal) {
  const auto& nodes = tree.nodes();
  std::vector<int> leaves(static_cast<std::size_t>(tree.species()), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool root = i + 1 == nodes.size();
    require(root == (nodes[i].parent == kNoParent), "the root is not the last");
    require(root || nodes[i].parent > static_cast<int>(i), "a parent before its child");
    if (nodes[i].leaf >= 0) ++leaves[static_cast<std::size_t>(nodes[i].leaf)];
    require(focal || nodes[i].leaf != kFocalLeaf, "the focal leaf is still there");
  }
  for (const int n : leaves) require(n == 1, "a species is not a leaf once");
}

// An inner node, or kNodeOfFocal.
int called_of(const std::vector<TreeNode>& nodes, Choices& choices) {
  auto at = choices.below(nodes.size() + 1);
  while (at < nodes.size() && nodes[at].leaf != kNoLeaf) {
    at = static_cast<std::size_t>(nodes[at].parent);
  }
  return at < nodes.size() ? static_cast<int>(at) : kNodeOfFocal;
}

void check_parsimony(const std::vector<TreeNode>& nodes, int species, Choices& choices) {
  constexpr std::size_t most_inner = 4;
  if (test::inner_nodes(nodes) > most_inner) return;
  std::vector<int> states;
  for (int i = 0; i < species; ++i) states.push_back(static_cast<int>(choices.below(kBases)));
  const int called = called_of(nodes, choices);
  const unsigned set = Parsimony(Tree(nodes, species, called)).root_set(states.data());
  require(set == test::fewest_changes(nodes, states, species, called),
          "parsimony and the slow way");
}

void check_likelihood(const Tree& tree, Choices& choices) {
  MethodOptions options;
  options.name = "likelihood";
  options.voting = {tree.species(), 0, 0, 0};
  options.tree = tree;
  const std::string result = outcome([&] {
    const auto method = make_method(options);
    std::vector<int> states;
    for (int i = 0; i < tree.species(); ++i) {
      states.push_back(static_cast<int>(choices.below(kStates)));
    }
    const SiteCall site = method->call(states.data());
    double sum = 0;
    for (const double p : site.posterior.value_or(Posterior{1, 0, 0, 0})) sum += p;
    return std::fabs(sum - 1) < 1e-9 ? "good" : "the posterior's sum is " + std::to_string(sum);
  });
  require(result == "good" || is_error(result), result);
}

}  // namespace

void check(std::string_view input) {
  if (input.empty()) return;
  const int species = number(input.front()) % 20;
  const auto nodes = nodes_of(input.substr(1));
  Choices choices(input);
  const std::string result = outcome([&] {
    check_order(Tree(nodes, species), true);
    const Tree tree(nodes, species, called_of(nodes, choices));
    const Tree turned = tree.rooted_at_call();
    require(!turned.has_focal(), "the focal leaf is still there");
    check_order(turned, false);
    check_parsimony(nodes, species, choices);
    if (choices.one_in(4)) check_likelihood(tree, choices);
    return "good";
  });
  require(result == "good" || result.find("input error: ") == 0, result);
}

}  // namespace ancify::fuzz
