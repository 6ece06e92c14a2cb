// Computes the posterior of the ancestral base by Felsenstein's pruning (1981, J. Mol. Evol.
// 17:368).
//   L_i(b) = product over children j of i of sum over c of P_bc(t_j) L_j(c)
//   posterior(b) is proportional to pi_b times sum over rate classes k of share_k L_k,root(b)
#include "core/ancestry/phylogeny/likelihood.h"

#include <algorithm>
#include <cmath>

namespace ancify {

namespace {

constexpr Partial kNoData = {1, 1, 1, 1};

Partial leaf_partial(int state) {
  if (state == kMissing) return kNoData;
  Partial partial{};
  partial[static_cast<std::size_t>(state)] = 1;
  return partial;
}

Tree checked(const Tree& tree) {
  tree.require_lengths();
  return tree.rooted_at_call();
}

}  // namespace

Partial along_branch(const Transitions& transitions, const Partial& below) {
  Partial above{};
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = 0; j < kBases; ++j) above[i] += transitions[i][j] * below[j];
  }
  return above;
}

Partial along_branch(const Transitions& transitions, int state) {
  if (state == kMissing) return kNoData;
  Partial above;
  for (std::size_t i = 0; i < kBases; ++i)
    above[i] = transitions[i][static_cast<std::size_t>(state)];
  return above;
}

void multiply(Partial* partials, const Partial* message, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = 0; i < kBases; ++i) partials[c][i] *= message[c][i];
  }
}

int scale_up(Partial* partials, std::size_t n) {
  static const double small = std::ldexp(1, -kScaleBits);
  double most = 0;
  for (std::size_t c = 0; c < n; ++c) {
    for (const double p : partials[c]) most = std::max(most, p);
  }
  if (most >= small || most == 0) return 0;
  for (std::size_t c = 0; c < n; ++c) {
    for (double& p : partials[c]) p = std::ldexp(p, kScaleBits);
  }
  return 1;
}

Likelihood::Likelihood(const Tree& tree, const SubstitutionModel& model,
                       const Thresholds& thresholds)
    : tree_(checked(tree)), model_(model), thresholds_(thresholds) {
  check_thresholds(thresholds);
  for (const auto& node : tree_.nodes()) {
    for (const auto& rate_class : model_.rate_classes()) {
      const bool root = node.parent == kNoParent;
      transitions_.push_back(model_.transitions(root ? 0 : node.length * rate_class.rate));
    }
  }
}

SiteCall Likelihood::call(const int* states) const {
  const bool no_data = std::all_of(states, states + species(), [](int s) { return s == kMissing; });
  if (no_data) return {};
  const auto& nodes = tree_.nodes();
  const auto& classes = model_.rate_classes();
  const std::size_t n = classes.size();
  std::vector<Partial> partials(nodes.size() * n, kNoData);
  std::vector<Partial> message(n);
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const auto& node = nodes[i];
    for (std::size_t c = 0; c < n; ++c) {
      const auto& transitions = transitions_[i * n + c];
      message[c] = node.leaf == kNoLeaf ? along_branch(transitions, partials[i * n + c])
                                        : along_branch(transitions, states[node.leaf]);
    }
    Partial* const parent = &partials[static_cast<std::size_t>(node.parent) * n];
    multiply(parent, message.data(), n);
    scale_up(parent, n);
  }
  if (nodes.back().leaf != kNoLeaf) {  // the only node
    std::fill_n(partials.begin(), n, leaf_partial(states[nodes.back().leaf]));
  }

  Posterior posterior{};
  double sum = 0;
  for (std::size_t base = 0; base < kBases; ++base) {
    for (std::size_t c = 0; c < n; ++c) {
      posterior[base] += classes[c].share * partials[partials.size() - n + c][base];
    }
    posterior[base] *= model_.frequencies()[base];
    sum += posterior[base];
  }
  if (sum == 0) return {'n', {}};
  for (double& p : posterior) p /= sum;
  return call_by_posterior(posterior, thresholds_);
}

}  // namespace ancify
