// Computes the posterior of the ancestral base by Felsenstein's pruning (1981, J. Mol. Evol.
// 17:368).
//   L_i(b) = product over children j of i of sum over c of P_bc(t_j) L_j(c)
//   posterior(b) is proportional to pi_b times sum over rate classes k of share_k L_k,root(b)
#include "core/ancestry/phylogeny/likelihood.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/device/lanes.h"

namespace ancify {

namespace {

constexpr Partial kNoData = {1, 1, 1, 1};

constexpr Transitions kUnchanged = {
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

constexpr double kSmallPartial = 0x1p-512;  // 2^-kScaleBits

// A batch, and the tree and model by which it is pruned.
struct Pruning {
  const std::vector<TreeNode>& nodes;
  const std::vector<Transitions>& transitions;  // [node * classes + class], of the branch above
  const SubstitutionModel& model;
  const std::uint8_t* states;
  std::size_t n;
  double* partials;  // workspace: [((node * classes + class) * kBases + base) * lanes + lane]
  double* joint;
};

constexpr std::size_t kMostLanes = kLanesIn<Avx512Lanes>;

// Vectors with an element for each of the lanes
template <class Lanes>
struct StateLanes;
template <>
struct StateLanes<PlainLanes> {
  using Bytes = std::uint8_t __attribute__((vector_size(2)));
  using Integers = std::int64_t __attribute__((vector_size(16)));
};
template <>
struct StateLanes<Avx2Lanes> {
  using Bytes = std::uint8_t __attribute__((vector_size(4)));
  using Integers = std::int64_t __attribute__((vector_size(32)));
};
template <>
struct StateLanes<Avx512Lanes> {
  using Bytes = std::uint8_t __attribute__((vector_size(8)));
  using Integers = std::int64_t __attribute__((vector_size(64)));
};

// The message of a leaf's branch: the probability of its state given each base above; 1 without a
// base.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void message_of_leaf(const Transitions& transitions,
                                          const std::uint8_t* states, Lanes* message) {
  typename StateLanes<Lanes>::Bytes bytes;
  std::memcpy(&bytes, states, sizeof(bytes));
  const auto state = __builtin_convertvector(bytes, typename StateLanes<Lanes>::Integers);
  for (std::size_t base = 0; base < kBases; ++base) {
    message[base] = Lanes{} + 1;
    for (std::size_t s = 0; s < kBases; ++s) {
      message[base] =
          state == static_cast<std::int64_t>(s) ? Lanes{} + transitions[base][s] : message[base];
    }
  }
}

// The message of an inner node's branch
template <class Lanes>
ANCIFY_ALWAYS_INLINE void message_of_node(const Transitions& transitions, const double* partial,
                                          Lanes* message) {
  Lanes below[kBases];
  for (std::size_t j = 0; j < kBases; ++j) load(partial + j * kLanesIn<Lanes>, below[j]);
  for (std::size_t i = 0; i < kBases; ++i) {
    message[i] = transitions[i][0] * below[0];
    for (std::size_t j = 1; j < kBases; ++j) message[i] += transitions[i][j] * below[j];
  }
}

// Multiplies a node's partials by 2^kScaleBits in lanes where all are below 2^-kScaleBits.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void scale_up(double* partials, std::size_t n) {
  Lanes most{};
  Lanes value;
  for (std::size_t i = 0; i < n; ++i) {
    load(partials + i * kLanesIn<Lanes>, value);
    most = value > most ? value : most;
  }
  const Lanes factor =
      most < Lanes{} + kSmallPartial ? Lanes{} + 1 / kSmallPartial : Lanes{} + 1;
  for (std::size_t i = 0; i < n; ++i) {
    load(partials + i * kLanesIn<Lanes>, value);
    store(Lanes(value * factor), partials + i * kLanesIn<Lanes>);
  }
}

// Prunes the patterns from `first` on, one in each lane.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void prune_lanes(const Pruning& pruning, std::size_t first) {
  constexpr std::size_t lanes = kLanesIn<Lanes>;
  const auto& nodes = pruning.nodes;
  const auto& classes = pruning.model.rate_classes();
  const std::size_t n = classes.size();
  const std::size_t size = n * kBases * lanes;  // of a node's partials
  std::fill_n(pruning.partials, nodes.size() * size, 1.0);
  Lanes message[kBases];
  Lanes value;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const auto& node = nodes[i];
    double* const parent = pruning.partials + static_cast<std::size_t>(node.parent) * size;
    for (std::size_t c = 0; c < n; ++c) {
      const Transitions& transitions = pruning.transitions[i * n + c];
      if (node.leaf == kNoLeaf) {
        message_of_node(transitions, pruning.partials + i * size + c * kBases * lanes, message);
      } else {
        const std::size_t row = static_cast<std::size_t>(node.leaf) * kBatchSites;
        message_of_leaf(transitions, pruning.states + row + first, message);
      }
      for (std::size_t base = 0; base < kBases; ++base) {
        double* const mine = parent + (c * kBases + base) * lanes;
        load(mine, value);
        store(Lanes(value * message[base]), mine);
      }
    }
    scale_up<Lanes>(parent, n * kBases);
  }
  const TreeNode& root = nodes.back();
  double* const partials = pruning.partials + (nodes.size() - 1) * size;
  if (root.leaf != kNoLeaf) {  // the only node
    message_of_leaf(kUnchanged, pruning.states + first, message);
    for (std::size_t i = 0; i < n * kBases; ++i) {
      store(message[i % kBases], partials + i * lanes);
    }
  }
  for (std::size_t base = 0; base < kBases; ++base) {
    Lanes sum{};
    for (std::size_t c = 0; c < n; ++c) {
      load(partials + (c * kBases + base) * lanes, value);
      sum += classes[c].share * value;
    }
    store(Lanes(sum * pruning.model.frequencies()[base]), pruning.joint + base * kBatchSites + first);
  }
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE void prune_batch(const Pruning& pruning) {
  for (std::size_t first = 0; first < pruning.n; first += kLanesIn<Lanes>) {
    prune_lanes<Lanes>(pruning, first);
  }
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void prune_avx2(const Pruning& pruning) { prune_batch<Avx2Lanes>(pruning); }

ANCIFY_TARGET_AVX512 void prune_avx512(const Pruning& pruning) {
  prune_batch<Avx512Lanes>(pruning);
}

#endif

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
  double most = 0;
  for (std::size_t c = 0; c < n; ++c) {
    for (const double p : partials[c]) most = std::max(most, p);
  }
  if (most >= kSmallPartial || most == 0) return 0;
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

// A batch of one pattern
SiteCall Likelihood::call(const int* states) const {
  std::vector<std::uint8_t> batch(static_cast<std::size_t>(species()) * kBatchSites, kMissing);
  for (std::size_t s = 0; s * kBatchSites < batch.size(); ++s) {
    batch[s * kBatchSites] = static_cast<std::uint8_t>(states[s]);
  }
  SiteCall site;
  call_batch(batch.data(), 1, SimdLevel::kScalar, &site);
  return site;
}

void Likelihood::call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                            SiteCall* calls) const {
  std::array<bool, kBatchSites> has_data{};
  for (int s = 0; s < species(); ++s) {
    const std::uint8_t* const row = states + static_cast<std::size_t>(s) * kBatchSites;
    for (std::size_t i = 0; i < n; ++i) has_data[i] |= row[i] != kMissing;
  }
  std::array<double, kBases * kBatchSites> joint;
  prune(states, n, level, joint.data());
  for (std::size_t i = 0; i < n; ++i) {
    calls[i] = {};
    if (!has_data[i]) continue;
    Posterior posterior;
    double sum = 0;
    for (std::size_t base = 0; base < kBases; ++base) {
      sum += posterior[base] = joint[base * kBatchSites + i];
    }
    if (sum == 0) {
      calls[i].call = 'n';
      continue;
    }
    for (double& p : posterior) p /= sum;
    calls[i] = call_by_posterior(posterior, thresholds_);
  }
}

// `joint` gets the joint probability of pattern i and each base at the root, up to a factor that is
// the same for all bases, at [base * kBatchSites + i].
void Likelihood::prune(const std::uint8_t* states, std::size_t n, SimdLevel level,
                       double* joint) const {
  std::vector<double> partials(tree_.nodes().size() * model_.rate_classes().size() * kBases *
                               kMostLanes);
  const Pruning pruning = {tree_.nodes(), transitions_, model_, states, n, partials.data(), joint};
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return prune_avx512(pruning);
  if (level == SimdLevel::kAvx2) return prune_avx2(pruning);
#endif
  static_cast<void>(level);
  prune_batch<PlainLanes>(pruning);
}

}  // namespace ancify
