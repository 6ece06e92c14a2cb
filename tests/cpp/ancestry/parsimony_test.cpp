// Checks parsimony against all assignments of bases to inner nodes.
#include "core/ancestry/phylogeny/parsimony.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "trees.h"

namespace ancify {
namespace {

char call_slowly(unsigned set, bool data) {
  if (!data) return 'N';
  std::string bases;
  for (int base = 0; base < kBases; ++base) {
    if ((set & 1U << base) != 0) bases += "ACGT"[base];
  }
  if (bases.size() == 4) return 'n';
  return static_cast<char>(bases.size() == 1 ? bases[0] : std::tolower(bases[0]));
}

TEST(Parsimony, NeedsTheFewestChanges) {
  std::mt19937 random(5);
  int rounds = 0;
  while (rounds < 300) {
    const int species = 1 + static_cast<int>(random() % 6);
    const auto nodes = test::random_nodes(species, random() % 2 == 0, random);
    if (test::inner_nodes(nodes) > 5) continue;
    ++rounds;
    const int called = test::random_called(nodes, random);
    const Parsimony parsimony(Tree(nodes, species, called));
    const Parsimony of_alphabet(Tree(nodes, species, called), Ties::kAlphabet);
    for (int i = 0; i < 10; ++i) {
      const auto states = test::random_states(static_cast<std::size_t>(species), random);
      if (!test::has_data(states, species)) {
        EXPECT_EQ(parsimony.call(states.data()).call, 'N');
        continue;
      }
      const unsigned expected = test::fewest_changes(nodes, states, species, called);
      ASSERT_EQ(parsimony.root_set(states.data()), expected);
      const SiteCall site = parsimony.call(states.data());
      const char by_alphabet = call_slowly(expected, true);
      EXPECT_EQ(site.call, std::islower(by_alphabet) != 0 ? 'n' : by_alphabet);
      EXPECT_EQ(of_alphabet.call(states.data()).call, by_alphabet);
      EXPECT_FALSE(site.posterior);
    }
  }
}

// (a,(b,(c,d))): at the root, and with the focal species beside a or b.
TEST(Parsimony, IsFitchsSetByHand) {
  const std::vector<TreeNode> ladder = {{6, 0, 0, ""},
                                        {5, 0, 1, ""},
                                        {4, 0, 2, ""},
                                        {4, 0, 3, ""},
                                        {5, 0, kNoLeaf, ""},
                                        {6, 0, kNoLeaf, ""},
                                        {kNoParent, 0, kNoLeaf, ""}};
  const auto call = [](const Parsimony& parsimony, const std::string& bases) {
    std::vector<int> states;
    for (const char c : bases) states.push_back(base_code(c));
    return parsimony.call(states.data()).call;
  };
  EXPECT_EQ(call(Parsimony(Tree(ladder, 4)), "ACCC"), 'n');
  const Parsimony at_root(Tree(ladder, 4), Ties::kAlphabet);
  EXPECT_EQ(call(at_root, "AAAA"), 'A');
  EXPECT_EQ(call(at_root, "ACCC"), 'a');
  EXPECT_EQ(call(at_root, "CACC"), 'C');
  EXPECT_EQ(call(at_root, "TGCA"), 'n');
  EXPECT_EQ(call(at_root, "NNTN"), 'T');
  EXPECT_EQ(call(at_root, "NNNN"), 'N');
  EXPECT_EQ(call(at_root, "TNGN"), 'g');

  auto nodes = ladder;
  nodes[0].parent = 7;
  nodes.push_back({6, 0, kNoLeaf, ""});
  nodes.push_back({7, 0, kFocalLeaf, "focal"});
  const Parsimony at_focal(Tree(nodes, 4), Ties::kAlphabet);
  EXPECT_EQ(call(at_focal, "ACCC"), 'a');
  EXPECT_EQ(call(at_focal, "CCGG"), 'C');

  nodes = ladder;  // the focal species beside b: a is above the node, and votes with (c,d)
  nodes[1].parent = 7;
  nodes.push_back({5, 0, kNoLeaf, ""});
  nodes.push_back({7, 0, kFocalLeaf, "focal"});
  const Parsimony inside(Tree(nodes, 4), Ties::kAlphabet);
  EXPECT_EQ(call(inside, "ACAA"), 'a');
  EXPECT_EQ(call(inside, "ACCG"), 'C');
  EXPECT_EQ(call(inside, "TNGG"), 'g');
}

}  // namespace
}  // namespace ancify
