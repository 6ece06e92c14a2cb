// Computes the log-likelihood of pattern counts n_p by pruning (Felsenstein 1981, J. Mol. Evol.
// 17:368).
//   log L = sum over patterns p of n_p log P(p)
//   P(p) = sum over rate classes k of share_k times sum over bases b of pi_b L_k,root(b)
// Derivatives go back from the root to the leaves by the chain rule (reverse accumulation).
#include "core/ancestry/phylogeny/pattern_likelihood.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "core/ancestry/phylogeny/likelihood.h"
#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Patterns of a block: enough blocks to share work, and partials that fit the cache.
constexpr std::size_t kBlock = 4096;

constexpr double kLog2 = 0.69314718055994530942;

// Numbers pairs in the order of their first occurrence.
class Pairs {
 public:
  std::uint32_t number(std::uint32_t first, std::uint32_t second) {
    const std::uint64_t key = std::uint64_t{first} << 32 | second;
    return numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

}  // namespace

PatternLikelihood::PatternLikelihood(const Tree& tree, const PatternCounts& patterns)
    : tree_(tree), leaves_(patterns.leaves), children_(tree.nodes().size()) {
  const bool with_focal = leaves_ == tree.species() + 1;
  if (leaves_ != tree.species() && !with_focal) {
    throw InputError("the patterns have " + std::to_string(leaves_) +
                     " species, but the tree has " + std::to_string(tree.species()) + " outgroups" +
                     (tree.has_focal() ? " and the focal species" : ""));
  }
  if (with_focal && !tree.has_focal()) {
    throw InputError("the patterns include the focal species, which is not in the tree");
  }
  const auto& nodes = tree_.nodes();
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    children_[static_cast<std::size_t>(nodes[i].parent)].push_back(i);
  }
  for (std::size_t begin = 0; begin < patterns.size(); begin += kBlock) {
    blocks_.push_back(make_block(patterns, begin, std::min(begin + kBlock, patterns.size())));
  }
}

PatternLikelihood::Block PatternLikelihood::make_block(const PatternCounts& patterns,
                                                       std::size_t begin, std::size_t end) const {
  const auto& nodes = tree_.nodes();
  const std::size_t n = end - begin;
  Block block;
  block.nodes.resize(nodes.size());
  // For each node, the number of each pattern among the node's distinct ones; at a leaf, the state.
  std::vector<std::vector<std::uint32_t>> which(nodes.size(), std::vector<std::uint32_t>(n));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = block.nodes[i];
    auto& mine = which[i];
    if (nodes[i].leaf != kNoLeaf) {
      node.distinct = kStates;
      const auto at =
          static_cast<std::size_t>(nodes[i].leaf == kFocalLeaf ? tree_.species() : nodes[i].leaf);
      for (std::size_t p = 0; p < n; ++p) {
        mine[p] = at < static_cast<std::size_t>(leaves_) ? patterns.pattern(begin + p)[at]
                                                         : std::uint8_t{kMissing};
      }
      continue;
    }
    const auto& children = children_[i];
    mine = which[children.front()];
    for (std::size_t c = 1; c < children.size(); ++c) {
      Pairs pairs;
      for (std::size_t p = 0; p < n; ++p) mine[p] = pairs.number(mine[p], which[children[c]][p]);
    }
    node.distinct = std::size_t{*std::max_element(mine.begin(), mine.end())} + 1;
    node.children.resize(node.distinct * children.size());
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t c = 0; c < children.size(); ++c) {
        node.children[mine[p] * children.size() + c] = which[children[c]][p];
      }
    }
    for (const std::size_t child : children) which[child].clear();
  }
  block.counts.assign(block.nodes.back().distinct, 0);
  for (std::size_t p = 0; p < n; ++p) {
    block.counts[which.back()[p]] += static_cast<double>(patterns.counts[begin + p]);
  }
  return block;
}

PatternLikelihood::Partials PatternLikelihood::prune(const Block& block,
                                                     const std::vector<Transitions>& transitions,
                                                     std::size_t n, bool keep) const {
  const auto& nodes = tree_.nodes();
  Partials partials;
  partials.below.resize(nodes.size());
  partials.above.resize(nodes.size());
  partials.scaled.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = block.nodes[i];
    const auto& children = children_[i];
    auto& above = partials.above[i];
    auto& scaled = partials.scaled[i];
    above.assign(node.distinct * n, Partial{1, 1, 1, 1});
    scaled.assign(node.distinct, 0);
    for (std::size_t d = 0; d < node.distinct; ++d) {
      for (std::size_t c = 0; c < children.size(); ++c) {
        const std::size_t theirs = node.children[d * children.size() + c];
        multiply(&above[d * n], &partials.above[children[c]][theirs * n], n);
        scaled[d] += partials.scaled[children[c]][theirs] + scale_up(&above[d * n], n);
      }
    }
    if (keep || nodes[i].parent == kNoParent) partials.below[i] = above;
    for (std::size_t d = 0; d < node.distinct; ++d) {
      for (std::size_t k = 0; k < n; ++k) {
        const Transitions& branch = transitions[i * n + k];
        Partial& mine = above[d * n + k];
        mine = nodes[i].leaf == kNoLeaf ? along_branch(branch, mine)
                                        : along_branch(branch, static_cast<int>(d));
      }
    }
    for (const std::size_t child : children) {
      if (!keep) partials.above[child] = {};
    }
  }
  // The root is a leaf too: it has no branch, and transitions_of() gives it the identity.
  if (nodes.back().leaf != kNoLeaf) partials.below.back() = partials.above.back();
  return partials;
}

double PatternLikelihood::sum_up(const Block& block, const Partials& partials,
                                 const SubstitutionModel& model,
                                 std::vector<double>& probabilities) const {
  const auto& classes = model.rate_classes();
  double sum = 0;
  for (std::size_t d = 0; d < block.counts.size(); ++d) {
    double probability = 0;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const Partial& partial = partials.below.back()[d * classes.size() + k];
      for (std::size_t base = 0; base < kBases; ++base) {
        probability += classes[k].share * model.frequencies()[base] * partial[base];
      }
    }
    probabilities.push_back(probability);
    if (block.counts[d] > 0) {
      sum += block.counts[d] *
             (std::log(probability) - partials.scaled.back()[d] * kScaleBits * kLog2);
    }
  }
  return sum;
}

// Passes derivatives down. From `by_below`, the derivatives by the partial below a node's branch,
// it computes the derivatives by the partials above its children's branches: `by_below` times the
// product of the other children's partials.
void PatternLikelihood::pass_to_children(const Block& block, const Partials& partials,
                                         std::size_t node, std::size_t distinct,
                                         const Partial* by_below, std::size_t n,
                                         std::vector<std::vector<Partial>>& by_above) const {
  const auto& children = children_[node];
  const std::uint32_t* const theirs = &block.nodes[node].children[distinct * children.size()];
  const auto above = [&](std::size_t c, std::size_t k, std::size_t base) {
    return partials.above[children[c]][theirs[c] * n + k][base];
  };
  int scaled = partials.scaled[node][distinct];
  for (std::size_t c = 0; c < children.size(); ++c) {
    scaled -= partials.scaled[children[c]][theirs[c]];
  }
  const auto product_of_others = [&](std::size_t c, std::size_t k, std::size_t base) {
    const double mine = above(c, k, base);
    if (mine > 0) return partials.below[node][distinct * n + k][base] / mine;
    double product = 1;
    int left = scaled;
    for (std::size_t other = 0; other < children.size(); ++other) {
      if (other != c) product *= above(other, k, base);
      if (left > 0 && product < std::ldexp(1, -kScaleBits)) {
        product = std::ldexp(product, kScaleBits);
        --left;
      }
    }
    return std::ldexp(product, left * kScaleBits);
  };
  for (std::size_t c = 0; c < children.size(); ++c) {
    for (std::size_t k = 0; k < n; ++k) {
      Partial& by_child = by_above[children[c]][theirs[c] * n + k];
      for (std::size_t base = 0; base < kBases; ++base) {
        by_child[base] += by_below[k][base] * product_of_others(c, k, base);
      }
    }
  }
}

// Prunes, then passes the derivatives from the root to the leaves.
Slope PatternLikelihood::slope(const Block& block, const std::vector<Transitions>& transitions,
                               const SubstitutionModel& model) const {
  const auto& nodes = tree_.nodes();
  const auto& classes = model.rate_classes();
  const std::size_t n = classes.size();
  const Partials partials = prune(block, transitions, n, true);
  std::vector<double> probabilities;
  Slope slope;
  slope.log_likelihood = sum_up(block, partials, model, probabilities);
  slope.by_transitions.resize(transitions.size(), Transitions{});
  slope.at_root.resize(n, Posterior{});
  std::vector<std::vector<Partial>> by_above(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    by_above[i].assign(block.nodes[i].distinct * n, Partial{});
  }
  std::vector<Partial> by_below(n);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (std::size_t d = 0; d < block.nodes[i].distinct; ++d) {
      const bool root = nodes[i].parent == kNoParent;
      if (root && !(block.counts[d] > 0)) continue;
      for (std::size_t k = 0; k < n; ++k) {
        const Partial& above = by_above[i][d * n + k];
        by_below[k] = {};
        for (std::size_t a = 0; a < kBases; ++a) {
          if (root) {
            const double weight = block.counts[d] / probabilities[d];
            slope.at_root[k][a] += weight * partials.below[i][d * n + k][a];
            by_below[k][a] = weight * classes[k].share * model.frequencies()[a];
          } else if (nodes[i].leaf == kNoLeaf) {
            for (std::size_t b = 0; b < kBases; ++b) {
              slope.by_transitions[i * n + k][a][b] += above[a] * partials.below[i][d * n + k][b];
              by_below[k][b] += above[a] * transitions[i * n + k][a][b];
            }
          } else if (d != kMissing) {
            slope.by_transitions[i * n + k][a][d] += above[a];
          }
        }
      }
      if (nodes[i].leaf == kNoLeaf) {
        pass_to_children(block, partials, i, d, by_below.data(), n, by_above);
      }
    }
  }
  return slope;
}

std::vector<Transitions> PatternLikelihood::transitions_of(const std::vector<double>& lengths,
                                                           const SubstitutionModel& model) const {
  const auto& nodes = tree_.nodes();
  if (lengths.size() != nodes.size()) {
    throw InputError("the tree has " + std::to_string(nodes.size()) + " nodes, but there are " +
                     std::to_string(lengths.size()) + " branch lengths");
  }
  std::vector<Transitions> transitions;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool root = nodes[i].parent == kNoParent;
    const double length = root ? 0 : lengths[static_cast<std::size_t>(tree_.given_as()[i])];
    if (!std::isfinite(length) || length < 0) {
      throw InputError("in the tree, the branch above " + tree_.name(i) + " has the length " +
                       number_text(length) + "; it must be finite and not below 0");
    }
    for (const auto& rate_class : model.rate_classes()) {
      transitions.push_back(model.transitions(length * rate_class.rate));
    }
  }
  return transitions;
}

double PatternLikelihood::log_likelihood(const std::vector<double>& lengths,
                                         const SubstitutionModel& model, int threads,
                                         JobControl& control) const {
  const auto transitions = transitions_of(lengths, model);
  const std::size_t classes = model.rate_classes().size();
  const auto n = static_cast<int>(blocks_.size());
  double sum = 0;
  join_in_order(
      control, std::min(threads, n), n, n,
      [&](std::int64_t i, const TaskContext& /*context*/) {
        const Block& block = blocks_[static_cast<std::size_t>(i)];
        std::vector<double> probabilities;
        return sum_up(block, prune(block, transitions, classes, false), model, probabilities);
      },
      [&](std::int64_t /*i*/, double part) { sum += part; });
  return sum;
}

Slope PatternLikelihood::slope(const std::vector<double>& lengths, const SubstitutionModel& model,
                               int threads, JobControl& control) const {
  const auto transitions = transitions_of(lengths, model);
  const auto n = static_cast<int>(blocks_.size());
  Slope sum;
  sum.by_transitions.resize(transitions.size(), Transitions{});
  sum.at_root.resize(model.rate_classes().size(), Posterior{});
  join_in_order(
      control, std::min(threads, n), n, n,
      [&](std::int64_t i, const TaskContext& /*context*/) {
        return slope(blocks_[static_cast<std::size_t>(i)], transitions, model);
      },
      [&](std::int64_t /*i*/, const Slope& part) {
        sum.log_likelihood += part.log_likelihood;
        for (std::size_t i = 0; i < transitions.size(); ++i) {
          for (std::size_t a = 0; a < kBases; ++a) {
            for (std::size_t b = 0; b < kBases; ++b) {
              sum.by_transitions[i][a][b] += part.by_transitions[i][a][b];
            }
          }
        }
        for (std::size_t k = 0; k < sum.at_root.size(); ++k) {
          for (std::size_t b = 0; b < kBases; ++b) sum.at_root[k][b] += part.at_root[k][b];
        }
      });
  return sum;
}

// A probability times the derivative of log L by it is the expected number of its uses.
std::vector<Transitions> PatternLikelihood::changes(const std::vector<double>& lengths,
                                                    const SubstitutionModel& model, int threads,
                                                    JobControl& control) const {
  const auto transitions = transitions_of(lengths, model);
  const Slope by = slope(lengths, model, threads, control);
  if (!std::isfinite(by.log_likelihood)) {
    throw InputError(
        "a pattern has different bases without a branch length between them, so it is impossible "
        "on this tree: give positive lengths, or fit them");
  }
  const std::size_t classes = model.rate_classes().size();
  std::vector<Transitions> counts(tree_.nodes().size(), Transitions{});
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    const std::size_t node = i / classes;
    if (tree_.nodes()[node].parent == kNoParent) continue;
    Transitions& sum = counts[static_cast<std::size_t>(tree_.given_as()[node])];
    for (std::size_t a = 0; a < kBases; ++a) {
      for (std::size_t b = 0; b < kBases; ++b) {
        sum[a][b] += by.by_transitions[i][a][b] * transitions[i][a][b];
      }
    }
  }
  return counts;
}

double PatternLikelihood::linearised(const Slope& slope, const std::vector<double>& lengths,
                                     const SubstitutionModel& model) const {
  const auto transitions = transitions_of(lengths, model);
  const auto& classes = model.rate_classes();
  if (classes.size() != slope.at_root.size()) {
    throw InputError("the slope has " + std::to_string(slope.at_root.size()) +
                     " rate classes, but the model has " + std::to_string(classes.size()));
  }
  double sum = 0;
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    for (std::size_t a = 0; a < kBases; ++a) {
      for (std::size_t b = 0; b < kBases; ++b) {
        sum += slope.by_transitions[i][a][b] * transitions[i][a][b];
      }
    }
  }
  for (std::size_t k = 0; k < classes.size(); ++k) {
    for (std::size_t b = 0; b < kBases; ++b) {
      sum += slope.at_root[k][b] * classes[k].share * model.frequencies()[b];
    }
  }
  return sum;
}

}  // namespace ancify
