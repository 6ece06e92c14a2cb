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

// A batch, and the tree and model by which it is pruned.
struct Pruning {
  const PruningPlan& plan;
  const SubstitutionModel& model;
  const std::uint8_t* states;
  std::size_t n;
  double* workspace;  // of workspace_size() doubles
  double* joint;
};

constexpr std::size_t kMostLanes = kLanesIn<Avx512Lanes>;

// Of each node and base, of each class and base at the root, and of each class's exponent.
std::size_t workspace_size(const PruningPlan& plan, std::size_t classes) {
  return (plan.nodes * kBases + classes * (kBases + 1)) * kMostLanes;
}

// Integers in the lanes of doubles.
template <class Lanes>
struct IntegersOf;
template <>
struct IntegersOf<PlainLanes> {
  using Type = std::uint64_t __attribute__((vector_size(16)));
};
template <>
struct IntegersOf<Avx2Lanes> {
  using Type = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct IntegersOf<Avx512Lanes> {
  using Type = std::uint64_t __attribute__((vector_size(64)));
};

// The messages of a leaf's branch, for the states of adjacent patterns, one in each lane. A row of
// the table is loaded for each lane, and rows are transposed.
ANCIFY_ALWAYS_INLINE void message_of_leaf(const LeafTable& table, const std::uint8_t* states,
                                          PlainLanes* message) {
  const double* const rows[2] = {table.by_state[states[0]].data(),
                                 table.by_state[states[1]].data()};
  PlainLanes first;
  PlainLanes second;
  for (std::size_t base = 0; base < kBases; base += 2) {
    load(rows[0] + base, first);
    load(rows[1] + base, second);
    message[base] = ANCIFY_SHUFFLE(first, second, 0, 2);
    message[base + 1] = ANCIFY_SHUFFLE(first, second, 1, 3);
  }
}

ANCIFY_ALWAYS_INLINE void message_of_leaf(const LeafTable& table, const std::uint8_t* states,
                                          Avx2Lanes* message) {
  Avx2Lanes row[4];
  for (std::size_t lane = 0; lane < 4; ++lane) {
    load(table.by_state[states[lane]].data(), row[lane]);
  }
  const Avx2Lanes even[2] = {ANCIFY_SHUFFLE(row[0], row[1], 0, 4, 2, 6),
                             ANCIFY_SHUFFLE(row[2], row[3], 0, 4, 2, 6)};
  const Avx2Lanes odd[2] = {ANCIFY_SHUFFLE(row[0], row[1], 1, 5, 3, 7),
                            ANCIFY_SHUFFLE(row[2], row[3], 1, 5, 3, 7)};
  message[0] = ANCIFY_SHUFFLE(even[0], even[1], 0, 1, 4, 5);
  message[1] = ANCIFY_SHUFFLE(odd[0], odd[1], 0, 1, 4, 5);
  message[2] = ANCIFY_SHUFFLE(even[0], even[1], 2, 3, 6, 7);
  message[3] = ANCIFY_SHUFFLE(odd[0], odd[1], 2, 3, 6, 7);
}

// Takes the element of each number.
ANCIFY_ALWAYS_INLINE void permute(const IntegersOf<Avx512Lanes>::Type& numbers,
                                  Avx512Lanes& values) {
#if defined(__clang__)
  const Avx512Lanes from = values;
  for (std::size_t i = 0; i < kLanesIn<Avx512Lanes>; ++i) values[i] = from[numbers[i]];
#else
  values = __builtin_shuffle(values, numbers);
#endif
}

// AVX-512 has an instruction for tables of eight numbers.
ANCIFY_ALWAYS_INLINE void message_of_leaf(const LeafTable& table, const std::uint8_t* states,
                                          Avx512Lanes* message) {
  using Bytes = std::uint8_t __attribute__((vector_size(8)));
  Bytes bytes;
  std::memcpy(&bytes, states, sizeof(bytes));
  const auto state = __builtin_convertvector(bytes, IntegersOf<Avx512Lanes>::Type);
  for (std::size_t base = 0; base < kBases; ++base) {
    load(table.by_base[base].data(), message[base]);
    permute(state, message[base]);
  }
}

// The message of an inner node's branch.
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

constexpr int kFraction = 52;  // bits of a double before its exponent
constexpr std::uint64_t kExponent = 0x7ff;

template <class Lanes>
ANCIFY_ALWAYS_INLINE void largest_partial(const Lanes* partials, Lanes& most) {
  most = partials[0];
  for (std::size_t i = 1; i < kBases; ++i) most = partials[i] > most ? partials[i] : most;
}

// Divides the partials of each lane by a power of two, so that the largest is at least 1 and less
// than 2, and adds the exponent that it had. Trees of hundreds of leaves then do not underflow.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void normalise(Lanes* partials, typename IntegersOf<Lanes>::Type& exponent) {
  Lanes most;
  largest_partial(partials, most);
  typename IntegersOf<Lanes>::Type bits;
  std::memcpy(&bits, &most, sizeof(bits));
  bits &= kExponent << kFraction;
  exponent += bits >> kFraction;
  bits = ((kExponent - 1) << kFraction) - bits;  // the exponent of the reciprocal
  Lanes factor;
  std::memcpy(&factor, &bits, sizeof(factor));
  for (std::size_t i = 0; i < kBases; ++i) partials[i] *= factor;
}

// Messages that are multiplied without underflow: a probability of change is hardly below 1e-60.
constexpr std::size_t kMessagesAtOnce = 4;

// The partials at the root under one rate class, for the patterns from `first` on, one in each
// lane.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void prune_class(const Pruning& pruning, std::size_t rate_class,
                                      std::size_t first, Lanes* partials,
                                      typename IntegersOf<Lanes>::Type& exponent) {
  constexpr std::size_t lanes = kLanesIn<Lanes>;
  const PruningPlan& plan = pruning.plan;
  for (const PruningPlan::Parent& parent : plan.parents) {
    for (std::size_t base = 0; base < kBases; ++base) partials[base] = Lanes{} + 1;
    for (std::size_t k = parent.first; k < parent.end; ++k) {
      const PruningPlan::Child& child = plan.children[k];
      const std::size_t branch = k * plan.classes + rate_class;
      Lanes message[kBases];
      if (child.leaf == kNoLeaf) {
        message_of_node(plan.transitions[branch], pruning.workspace + child.node * kBases * lanes,
                        message);
      } else {
        const std::size_t row = static_cast<std::size_t>(child.leaf) * kBatchSites;
        message_of_leaf(plan.leaf_tables[branch], pruning.states + row + first, message);
      }
      for (std::size_t base = 0; base < kBases; ++base) partials[base] *= message[base];
      if ((k - parent.first) % kMessagesAtOnce == kMessagesAtOnce - 1) {
        normalise(partials, exponent);
      }
    }
    normalise(partials, exponent);
    for (std::size_t base = 0; base < kBases; ++base) {
      store(partials[base], pruning.workspace + (parent.node * kBases + base) * lanes);
    }
  }
}

// Sums over classes, relative to the class with the largest exponent. A class whose exponent is
// lower by more than 1,022 adds nothing.
template <class Lanes>
ANCIFY_ALWAYS_INLINE void prune_lanes(const Pruning& pruning, std::size_t first) {
  using Integers = typename IntegersOf<Lanes>::Type;
  constexpr std::size_t lanes = kLanesIn<Lanes>;
  const auto& classes = pruning.model.rate_classes();
  double* const roots = pruning.workspace + pruning.plan.nodes * kBases * lanes;
  double* const exponents = roots + classes.size() * kBases * lanes;
  Lanes root[kBases] = {};
  Integers greatest{};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    Integers exponent{};
    prune_class<Lanes>(pruning, c, first, root, exponent);
    Lanes most;
    largest_partial(root, most);
    exponent = most > Lanes{} ? exponent : Integers{};  // 0 for impossible patterns
    greatest = exponent > greatest ? exponent : greatest;
    for (std::size_t base = 0; base < kBases; ++base) {
      store(root[base], roots + (c * kBases + base) * lanes);
    }
    std::memcpy(exponents + c * lanes, &exponent, sizeof(exponent));
  }
  Lanes sum[kBases] = {};
  Lanes value;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    Integers exponent;
    std::memcpy(&exponent, exponents + c * lanes, sizeof(exponent));
    const Integers below = greatest - exponent;
    constexpr std::uint64_t one = kExponent >> 1;
    exponent = below < one ? (one - below) << kFraction : Integers{};
    Lanes weight;
    std::memcpy(&weight, &exponent, sizeof(weight));
    for (std::size_t base = 0; base < kBases; ++base) {
      load(roots + (c * kBases + base) * lanes, value);
      sum[base] += classes[c].share * (value * weight);
    }
  }
  for (std::size_t base = 0; base < kBases; ++base) {
    store(Lanes(sum[base] * pruning.model.frequencies()[base]),
          pruning.joint + base * kBatchSites + first);
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
  constexpr double small = 0x1p-512;  // 2^-kScaleBits
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
    : species_(tree.species()), model_(model), thresholds_(thresholds) {
  check_thresholds(thresholds);
  const Tree rooted = checked(tree);
  const auto& nodes = rooted.nodes();
  plan_.nodes = nodes.size();
  plan_.classes = model.rate_classes().size();
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::size_t first = plan_.children.size();
    for (std::size_t i = 0; i < node; ++i) {
      if (nodes[i].parent == static_cast<int>(node)) add_child(i, nodes[i].leaf, nodes[i].length);
    }
    // A single node is its own leaf, without a branch.
    if (nodes.size() == 1) add_child(node, nodes[node].leaf, 0);
    const std::size_t end = plan_.children.size();
    if (end > first) plan_.parents.push_back({node, first, end});
  }
}

void Likelihood::add_child(std::size_t node, int leaf, double length) {
  plan_.children.push_back({node, leaf});
  for (const auto& rate_class : model_.rate_classes()) {
    const Transitions transitions = model_.transitions(length * rate_class.rate);
    plan_.transitions.push_back(transitions);
    LeafTable table;
    for (std::size_t base = 0; base < kBases; ++base) {
      table.by_base[base].fill(1);
      table.by_state[kMissing][base] = 1;
      for (std::size_t state = 0; state < kBases; ++state) {
        table.by_base[base][state] = table.by_state[state][base] = transitions[base][state];
      }
    }
    plan_.leaf_tables.push_back(table);
  }
}

// A batch of one pattern.
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
  const auto has_data = patterns_with_data(states, species());
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

// `joint` gets the joint probability of pattern i and each base at the root, up to a factor
// shared by all bases, at [base * kBatchSites + i].
void Likelihood::prune(const std::uint8_t* states, std::size_t n, SimdLevel level,
                       double* joint) const {
  std::vector<double> workspace(workspace_size(plan_, plan_.classes));
  const Pruning pruning = {plan_, model_, states, n, workspace.data(), joint};
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return prune_avx512(pruning);
  if (level == SimdLevel::kAvx2) return prune_avx2(pruning);
#endif
  static_cast<void>(level);
  prune_batch<PlainLanes>(pruning);
}

}  // namespace ancify
