// Finds the root's most parsimonious bases. A node's set holds the bases that most of its
// children's sets contain (Hartigan 1973, Biometrics 29:53). With two children this is the
// intersection or, if empty, the union (Fitch 1971, Syst. Zool. 20:406).
#include "core/ancestry/phylogeny/parsimony.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/device/lanes.h"

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

// For each pattern of a batch.
using Bytes = std::array<std::uint8_t, kBatchSites>;
using BatchVotes = std::array<Bytes, kBases>;

// On the heap, as it exceeds the registers.
struct Workspace {
  std::vector<BatchVotes> votes;  // for each node
  Bytes sets;
};

// Bytes in a register.
using PlainBytes = std::uint8_t __attribute__((vector_size(16)));
using Avx2Bytes = std::uint8_t __attribute__((vector_size(32)));

// Adds 1 where a mask is true; its bytes are 0 or -1.
template <class Vector, class Mask>
ANCIFY_ALWAYS_INLINE void add_vote(const Mask& mask, std::uint8_t* votes) {
  Vector sum;
  load(votes, sum);
  store(Vector(sum - Vector(mask)), votes);
}

// A leaf votes for its base, or for all bases without one.
template <class Vector>
ANCIFY_ALWAYS_INLINE void vote_of_leaf(const std::uint8_t* states, BatchVotes& parent) {
  for (std::size_t i = 0; i < kBatchSites; i += sizeof(Vector)) {
    Vector state;
    load(states + i, state);
    const auto missing = state == Vector{} + std::uint8_t{kMissing};
    for (std::uint8_t base = 0; base < kBases; ++base) {
      add_vote<Vector>((state == Vector{} + base) | missing, &parent[base][i]);
    }
  }
}

template <class Vector>
ANCIFY_ALWAYS_INLINE void most_votes(const BatchVotes& votes, std::size_t i, Vector& most) {
  load(&votes[0][i], most);
  for (std::size_t base = 1; base < kBases; ++base) {
    Vector other;
    load(&votes[base][i], other);
    most = other > most ? other : most;
  }
}

// An inner node votes for each base that most of its children's sets contain.
template <class Vector>
ANCIFY_ALWAYS_INLINE void vote_of_node(const BatchVotes& own, BatchVotes& parent) {
  for (std::size_t i = 0; i < kBatchSites; i += sizeof(Vector)) {
    Vector most;
    most_votes(own, i, most);
    for (std::size_t base = 0; base < kBases; ++base) {
      Vector votes;
      load(&own[base][i], votes);
      add_vote<Vector>(votes == most, &parent[base][i]);
    }
  }
}

template <class Vector>
ANCIFY_ALWAYS_INLINE void sets_of_root(const BatchVotes& votes, Bytes& sets) {
  for (std::size_t i = 0; i < kBatchSites; i += sizeof(Vector)) {
    Vector most;
    most_votes(votes, i, most);
    Vector set{};
    for (std::size_t base = 0; base < kBases; ++base) {
      Vector own;
      load(&votes[base][i], own);
      set |= Vector(own == most) & static_cast<std::uint8_t>(1 << base);
    }
    store(set, &sets[i]);
  }
}

// workspace.sets becomes the root's set of each pattern, as in Parsimony::root_set().
template <class Vector>
ANCIFY_ALWAYS_INLINE void root_sets(const Tree& tree, const std::uint8_t* states,
                                    Workspace& workspace) {
  const auto& nodes = tree.nodes();
  auto& [votes, sets] = workspace;
  votes.assign(nodes.size(), BatchVotes{});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    const bool root = node.parent == kNoParent;
    BatchVotes& parent = votes[root ? i : static_cast<std::size_t>(node.parent)];
    if (node.leaf != kNoLeaf) {
      vote_of_leaf<Vector>(states + static_cast<std::size_t>(node.leaf) * kBatchSites, parent);
    } else if (!root) {
      vote_of_node<Vector>(votes[i], parent);
    }
  }
  sets_of_root<Vector>(votes.back(), sets);
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void root_sets_avx2(const Tree& tree, const std::uint8_t* states,
                                       Workspace& workspace) {
  root_sets<Avx2Bytes>(tree, states, workspace);
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
    root_sets<PlainBytes>(tree_, states, *workspace);
  }
#else
  root_sets<PlainBytes>(tree_, states, *workspace);
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
