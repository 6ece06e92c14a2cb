// Finds the root's most parsimonious bases. A node's set holds the bases that most of its
// children's sets contain (Hartigan 1973, Biometrics 29:53). With two children this is the
// intersection or, if empty, the union (Fitch 1971, Syst. Zool. 20:406).
#include "core/ancestry/phylogeny/parsimony.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace ancify {

namespace {

constexpr unsigned kAllBases = (1U << kBases) - 1;

// For each base, how many of a node's children have it in their sets.
using Votes = std::array<int, kBases>;

// The bases with the most votes. With two children: the intersection or, if empty, the union. With
// one: the child's set.
unsigned most_held(const Votes& votes) {
  const int most = *std::max_element(votes.begin(), votes.end());
  unsigned set = 0;
  for (int base = 0; base < kBases; ++base) {
    if (votes[static_cast<std::size_t>(base)] == most) set |= 1U << base;
  }
  return set;
}

unsigned leaf_set(int state) { return state == kMissing ? kAllBases : 1U << state; }

}  // namespace

unsigned Parsimony::root_set(const int* states) const {
  const auto& nodes = tree_.nodes();
  std::vector<Votes> votes(nodes.size(), Votes{});
  unsigned set = kAllBases;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    set = node.leaf == kNoLeaf ? most_held(votes[i]) : leaf_set(states[node.leaf]);
    if (node.parent == kNoParent) break;
    auto& parent = votes[static_cast<std::size_t>(node.parent)];
    for (int base = 0; base < kBases; ++base) {
      parent[static_cast<std::size_t>(base)] += static_cast<int>(set >> base & 1U);
    }
  }
  return set;
}

SiteCall Parsimony::call(const int* states) const {
  const bool no_data = std::all_of(states, states + species(), [](int s) { return s == kMissing; });
  if (no_data) return {};
  const unsigned set = root_set(states);
  const int first = first_base(set);
  if (set == 1U << first) return {upper_base(first), {}};
  if (set == kAllBases || ties_ == Ties::kOpen) return {'n', {}};
  return {lower_base(first), {}};
}

}  // namespace ancify
