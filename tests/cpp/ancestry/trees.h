// Random trees, and oracles that try every base of every inner node. They do not re-root, prune or
// diagonalise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"
#include "core/genome/bases.h"

namespace ancify::test {

inline double uniform(std::mt19937& random) {
  return std::uniform_real_distribution<double>()(random);
}

// Nodes in random order: `species` leaves, the focal leaf if wanted, and inner nodes. Inner nodes
// have two to four children, and some have one.
inline std::vector<TreeNode> random_nodes(int species, bool focal, std::mt19937& random) {
  std::vector<TreeNode> nodes;
  std::vector<int> open;
  for (int leaf = focal ? kFocalLeaf : 0; leaf < species; ++leaf) {
    if (leaf == kNoLeaf) continue;
    open.push_back(static_cast<int>(nodes.size()));
    nodes.emplace_back();
    nodes.back().leaf = leaf;
    nodes.back().name = leaf == kFocalLeaf ? "focal" : "species " + std::to_string(leaf);
  }
  const auto join = [&](std::size_t children) {
    std::shuffle(open.begin(), open.end(), random);
    for (std::size_t c = 0; c < children; ++c) {
      nodes[static_cast<std::size_t>(open.back())].parent = static_cast<int>(nodes.size());
      open.pop_back();
    }
    open.push_back(static_cast<int>(nodes.size()));
    nodes.emplace_back();
  };
  while (open.size() > 1) {
    if (random() % 4 == 0) join(1);
    join(std::min<std::size_t>(open.size(), 2 + random() % 3));
  }
  if (random() % 3 == 0) join(1);
  for (auto& node : nodes) {
    if (node.parent != kNoParent) node.length = random() % 10 == 0 ? 0 : uniform(random);
  }
  std::vector<int> place(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) place[i] = static_cast<int>(i);
  std::shuffle(place.begin(), place.end(), random);
  std::vector<TreeNode> shuffled(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto& node = shuffled[static_cast<std::size_t>(place[i])];
    node = nodes[i];
    if (node.parent != kNoParent) node.parent = place[static_cast<std::size_t>(node.parent)];
  }
  return shuffled;
}

inline std::size_t inner_nodes(const std::vector<TreeNode>& nodes) {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const TreeNode& node) { return node.leaf == kNoLeaf; }));
}

inline int children_of(const std::vector<TreeNode>& nodes, int parent) {
  return static_cast<int>(std::count_if(
      nodes.begin(), nodes.end(), [&](const TreeNode& node) { return node.parent == parent; }));
}

// The node of the call: `called` or, by default, the root, or the first node where the focal
// lineage meets another.
inline std::size_t node_of_call(const std::vector<TreeNode>& nodes, int called = kNodeOfFocal) {
  if (called != kNodeOfFocal) return static_cast<std::size_t>(called);
  std::size_t focal = nodes.size();
  std::size_t root = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].leaf == kFocalLeaf) focal = i;
    if (nodes[i].parent == kNoParent) root = i;
  }
  if (focal == nodes.size()) return root;
  int node = nodes[focal].parent;
  while (children_of(nodes, node) == 1) node = nodes[static_cast<std::size_t>(node)].parent;
  return static_cast<std::size_t>(node);
}

// An inner node at random, or kNodeOfFocal.
inline int random_called(const std::vector<TreeNode>& nodes, std::mt19937& random) {
  std::vector<int> choices = {kNodeOfFocal};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].leaf == kNoLeaf) choices.push_back(static_cast<int>(i));
  }
  return choices[random() % choices.size()];
}

// Calls take(bases) for all assignments of bases to nodes that the data allow. states[s] is the
// state of species s, with the focal species last, if there is one.
inline void for_all_histories(const std::vector<TreeNode>& nodes, const std::vector<int>& states,
                              int species,
                              const std::function<void(const std::vector<int>&)>& take) {
  std::vector<int> fixed(nodes.size(), kMissing);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].leaf == kNoLeaf) continue;
    const auto at = static_cast<std::size_t>(nodes[i].leaf == kFocalLeaf ? species : nodes[i].leaf);
    if (at < states.size()) fixed[i] = states[at];
  }
  std::vector<int> bases = fixed;
  const std::function<void(std::size_t)> descend = [&](std::size_t i) {
    if (i == nodes.size()) {
      take(bases);
    } else if (fixed[i] != kMissing) {
      descend(i + 1);
    } else {
      for (bases[i] = 0; bases[i] < kBases; ++bases[i]) descend(i + 1);
    }
  };
  descend(0);
}

// The bases at the node of the call that need the fewest changes, as bits.
inline unsigned fewest_changes(const std::vector<TreeNode>& nodes, const std::vector<int>& states,
                               int species, int called = kNodeOfFocal) {
  const std::size_t call = node_of_call(nodes, called);
  std::array<int, kBases> fewest;
  fewest.fill(1000);
  for_all_histories(nodes, states, species, [&](const std::vector<int>& bases) {
    int changes = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent == kNoParent) continue;
      if (bases[i] != bases[static_cast<std::size_t>(nodes[i].parent)]) ++changes;
    }
    int& least = fewest[static_cast<std::size_t>(bases[call])];
    least = std::min(least, changes);
  });
  unsigned set = 0;
  for (int base = 0; base < kBases; ++base) {
    if (fewest[static_cast<std::size_t>(base)] == *std::min_element(fewest.begin(), fewest.end())) {
      set |= 1U << base;
    }
  }
  return set;
}

using Matrix = std::array<std::array<long double, kBases>, kBases>;

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = 0; j < kBases; ++j) {
      for (std::size_t k = 0; k < kBases; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

// exp(Q t): halves Q t several times, sums the series, and squares the result as often.
inline Matrix transitions_by_series(const SubstitutionRates& rates, double t) {
  constexpr int halvings = 16;
  const auto& pi = rates.frequencies;
  const std::array<std::array<std::size_t, kBases>, kBases> pair = {
      {{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}};
  Matrix q{};
  long double mean = 0;
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = 0; j < kBases; ++j) {
      if (i == j) continue;
      q[i][j] = static_cast<long double>(rates.exchangeabilities[pair[i][j]]) * pi[j];
      q[i][i] -= q[i][j];
      mean += pi[i] * q[i][j];
    }
  }
  for (auto& row : q) {
    for (auto& x : row) x *= t / mean / (1 << halvings);
  }
  Matrix sum{};
  Matrix term{};
  for (std::size_t i = 0; i < kBases; ++i) term[i][i] = sum[i][i] = 1;
  for (int k = 1; k < 30; ++k) {
    term = product(term, q);
    for (std::size_t i = 0; i < kBases; ++i) {
      for (std::size_t j = 0; j < kBases; ++j) sum[i][j] += term[i][j] /= k;
    }
  }
  for (int k = 0; k < halvings; ++k) sum = product(sum, sum);
  return sum;
}

struct History {
  long double probability = 0;             // of the data
  std::array<double, kBases> posterior{};  // at the node of the call
  // Of each node, the posterior of its parent's base and its own.
  std::vector<std::array<std::array<double, kBases>, kBases>> changes;
};

// Sums over rate classes and over all bases of all inner nodes, by the root as given.
inline History sum_over_histories(const std::vector<TreeNode>& nodes,
                                  const std::vector<int>& states, int species,
                                  const SubstitutionRates& rates,
                                  const std::vector<RateClass>& classes,
                                  int called = kNodeOfFocal) {
  const std::size_t call = node_of_call(nodes, called);
  std::array<long double, kBases> joint{};
  History result;
  result.changes.resize(nodes.size());
  for (const auto& rate_class : classes) {
    std::vector<Matrix> p;
    for (const auto& node : nodes) {
      const double length = node.parent == kNoParent ? 0 : node.length;
      p.push_back(transitions_by_series(rates, length * rate_class.rate));
    }
    for_all_histories(nodes, states, species, [&](const std::vector<int>& bases) {
      long double probability = rate_class.share;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto base = static_cast<std::size_t>(bases[i]);
        probability *=
            nodes[i].parent == kNoParent
                ? static_cast<long double>(rates.frequencies[base])
                : p[i][static_cast<std::size_t>(bases[static_cast<std::size_t>(nodes[i].parent)])]
                   [base];
      }
      joint[static_cast<std::size_t>(bases[call])] += probability;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].parent == kNoParent) continue;
        const auto from =
            static_cast<std::size_t>(bases[static_cast<std::size_t>(nodes[i].parent)]);
        result.changes[i][from][static_cast<std::size_t>(bases[i])] +=
            static_cast<double>(probability);
      }
    });
  }
  for (const auto p : joint) result.probability += p;
  for (std::size_t base = 0; base < kBases; ++base) {
    result.posterior[base] = static_cast<double>(joint[base] / result.probability);
  }
  for (auto& node : result.changes) {
    for (auto& row : node) {
      for (double& p : row) p /= static_cast<double>(result.probability);
    }
  }
  return result;
}

inline SubstitutionRates random_rates(std::mt19937& random) {
  SubstitutionRates rates;
  for (double& rate : rates.exchangeabilities) rate = 0.05 + uniform(random);
  double sum = 0;
  for (double& frequency : rates.frequencies) sum += frequency = 0.05 + uniform(random);
  for (double& frequency : rates.frequencies) frequency /= sum;
  if (random() % 2 == 0) rates.alpha = 0.2 + uniform(random);
  if (random() % 2 == 0) rates.invariant = 0.4 * uniform(random);
  rates.n_rates = 3;
  return rates;
}

inline std::vector<int> random_states(std::size_t n, std::mt19937& random) {
  std::vector<int> states(n);
  for (int& state : states) state = static_cast<int>(random() % 6) % kStates;
  return states;
}

inline bool has_data(const std::vector<int>& states, int species) {
  return std::any_of(states.begin(), states.begin() + species,
                     [](int state) { return state != kMissing; });
}

// Options for a method with this name, for this many species and a random tree with the focal one.
inline MethodOptions random_options(const std::string& name, int species, std::mt19937& random) {
  MethodOptions options;
  options.name = name;
  options.voting = {species - species / 2, species / 2, 1, 1};
  options.tree = Tree(random_nodes(species, true, random), species);
  options.rates = random_rates(random);
  return options;
}

}  // namespace ancify::test
