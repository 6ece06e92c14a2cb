// Finds the root's most parsimonious bases. A node's set holds the bases that most of its
// children's sets contain (Hartigan 1973, Biometrics 29:53). With two children this is the
// intersection or, if empty, the union (Fitch 1971, Syst. Zool. 20:406).
#include "core/ancestry/phylogeny/parsimony.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
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

int most_children(const Tree& tree) {
  std::vector<int> children(tree.nodes().size(), 0);
  for (const auto& node : tree.nodes()) {
    if (node.parent != kNoParent) ++children[static_cast<std::size_t>(node.parent)];
  }
  return *std::max_element(children.begin(), children.end());
}

// For each pattern of a batch
using Bytes = std::array<std::uint8_t, kBatchSites>;
using BatchVotes = std::array<Bytes, kBases>;

// On the heap, as it exceeds the registers
struct Workspace {
  std::vector<BatchVotes> votes;  // for each node
  Bytes most;
  Bytes sets;
};

ANCIFY_ALWAYS_INLINE void sets_of_leaf(const std::uint8_t* states, Bytes& sets) {
  for (std::size_t i = 0; i < kBatchSites; ++i) {
    constexpr std::uint8_t all = kAllBases;
    std::uint8_t set = states[i] == kMissing ? all : std::uint8_t{0};
    for (std::uint8_t base = 0; base < kBases; ++base) {
      const std::uint8_t bit = states[i] == base ? static_cast<std::uint8_t>(1 << base) : 0;
      set = static_cast<std::uint8_t>(set | bit);
    }
    sets[i] = set;
  }
}

// most_held() of each pattern
ANCIFY_ALWAYS_INLINE void sets_of_votes(const BatchVotes& votes, Bytes& most, Bytes& sets) {
  most.fill(0);
  for (std::size_t base = 0; base < kBases; ++base) {
    for (std::size_t i = 0; i < kBatchSites; ++i) most[i] = std::max(most[i], votes[base][i]);
  }
  for (std::size_t i = 0; i < kBatchSites; ++i) {
    unsigned set = 0;
    for (std::size_t base = 0; base < kBases; ++base) {
      set |= static_cast<unsigned>(votes[base][i] == most[i]) << base;
    }
    sets[i] = static_cast<std::uint8_t>(set);
  }
}

ANCIFY_ALWAYS_INLINE void add_votes(const Bytes& sets, BatchVotes& votes) {
  for (std::size_t base = 0; base < kBases; ++base) {
    for (std::size_t i = 0; i < kBatchSites; ++i) {
      const std::uint8_t has = (sets[i] & (1 << base)) != 0 ? 1 : 0;
      votes[base][i] = static_cast<std::uint8_t>(votes[base][i] + has);
    }
  }
}

// workspace.sets becomes the root's set of each pattern, as of Parsimony::root_set().
ANCIFY_ALWAYS_INLINE void root_sets(const Tree& tree, const std::uint8_t* states,
                                    Workspace& workspace) {
  const auto& nodes = tree.nodes();
  auto& [votes, most, sets] = workspace;
  votes.assign(nodes.size(), BatchVotes{});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (node.leaf == kNoLeaf) {
      sets_of_votes(votes[i], most, sets);
    } else {
      sets_of_leaf(states + static_cast<std::size_t>(node.leaf) * kBatchSites, sets);
    }
    if (node.parent != kNoParent) add_votes(sets, votes[static_cast<std::size_t>(node.parent)]);
  }
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void root_sets_avx2(const Tree& tree, const std::uint8_t* states,
                                       Workspace& workspace) {
  root_sets(tree, states, workspace);
}
#endif

}  // namespace

Parsimony::Parsimony(const Tree& tree, Ties ties)
    : tree_(tree.rooted_at_call()), ties_(ties), most_children_(most_children(tree_)) {}

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
  return call_of_set(root_set(states), true);
}

void Parsimony::call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                           SiteCall* calls) const {
  // Bytes count the votes of children.
  if (most_children_ > 255) return Method::call_batch(states, n, level, calls);
  const auto workspace = std::make_unique<Workspace>();
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) {
    root_sets_avx2(tree_, states, *workspace);
  } else {
    root_sets(tree_, states, *workspace);
  }
#else
  root_sets(tree_, states, *workspace);
#endif
  const auto has_data = patterns_with_data(states, species());
  for (std::size_t i = 0; i < n; ++i) calls[i] = call_of_set(workspace->sets[i], has_data[i]);
}

SiteCall Parsimony::call_of_set(unsigned set, bool has_data) const {
  if (!has_data) return {};
  const int first = first_base(set);
  if (set == 1U << first) return {upper_base(first), {}};
  if (set == kAllBases || ties_ == Ties::kOpen) return {'n', {}};
  return {lower_base(first), {}};
}

}  // namespace ancify
