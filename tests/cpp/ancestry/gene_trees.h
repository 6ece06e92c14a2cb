// Simulates unlinked sites under the multispecies coalescent and K80, independently of the core's
// method. Each site has its own gene tree, made lineage by lineage and mutation by mutation.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/ancestry/coalescent/history.h"

namespace ancify::test {

struct K80 {
  double rate;   // mutations per generation
  double kappa;  // rate of the transition over the rate of each transversion
};

inline MutationModel model_of(const K80& k80) {
  MutationModel model = {{}, {0.25, 0.25, 0.25, 0.25}};
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) {
      const double part = (i ^ j) == 2 ? k80.kappa : 1;
      model.rates[i][j] = i == j ? -k80.rate : k80.rate * part / (k80.kappa + 2);
    }
  }
  return model;
}

// A simulated site. Sites are drawn with unequal probabilities, for which the weight corrects.
struct SimulatedSite {
  double weight;
  int ancestor;  // the base of the focal haplotypes' common ancestor
  std::vector<int> outgroups;
  int copies[kBases];  // of each base among the focal haplotypes

  int alleles() const {
    int n = 0;
    for (const int count : copies) n += count > 0;
    return n;
  }
};

class SiteSimulator {
 public:
  SiteSimulator(const History& history, const K80& model, unsigned seed)
      : history_(history), model_(model), random_(seed) {}

  // Calls visit(site) twice for each of `trees` gene trees: without mutations, and with at least
  // one.
  template <class Visit>
  void all_sites(int trees, Visit visit) {
    for (int i = 0; i < trees; ++i) {
      grow();
      const double expected = model_.rate * length(false);
      visit(mutated(0, 0, std::exp(-expected)));
      visit(mutated(at_least_one(expected), 0, -std::expm1(-expected)));
    }
  }
  // Calls visit(site) for sites with at least one mutation in the focal genealogy.
  template <class Visit>
  void focal_mutations(int trees, Visit visit) {
    for (int i = 0; i < trees; ++i) {
      grow();
      const double within = model_.rate * length(true);
      const double elsewhere = model_.rate * (length(false) - length(true));
      visit(mutated(poisson(elsewhere), at_least_one(within), -std::expm1(-within)));
    }
  }

 private:
  struct Node {
    double time;
    int children[2];
    int focal;          // haplotypes below
    double branch = 0;  // to the parent
    int base = 0;
  };

  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  int pick(std::size_t n) {
    return std::uniform_int_distribution<int>(0, static_cast<int>(n) - 1)(random_);
  }
  int poisson(double mean) { return mean > 0 ? std::poisson_distribution<int>(mean)(random_) : 0; }
  int at_least_one(double mean) {
    // Draw the first arrival, given that there is one, and then the arrivals in the remaining time.
    const double first = -std::log1p(uniform() * std::expm1(-mean));
    return 1 + poisson(mean - first);
  }

  // Makes a gene tree: leaves with the focal ones first, then coalescences with the root last.
  void grow() {
    const int n = history_.focal_lineages;
    nodes_.clear();
    std::vector<std::vector<int>> populations(history_.joins.size() + 1);
    for (int i = 0; i < n + history_.outgroups(); ++i) {
      nodes_.push_back({0, {-1, -1}, i < n ? 1 : 0});
      populations[static_cast<std::size_t>(i < n ? 0 : i - n + 1)].push_back(i);
    }
    std::vector<double> sizes(populations.size(), 1);
    sizes[0] = history_.focal_size;
    double time = 0;
    for (const auto& join : history_.joins) {
      for (std::size_t i = 0; i < populations.size(); ++i) {
        coalesce(populations[i], time, join.time, sizes[i]);
      }
      auto& from = populations[static_cast<std::size_t>(join.from)];
      auto& into = populations[static_cast<std::size_t>(join.into)];
      into.insert(into.end(), from.begin(), from.end());
      from.clear();
      sizes[static_cast<std::size_t>(join.into)] = join.size;
      time = join.time;
    }
    for (std::size_t i = 0; i < populations.size(); ++i) {
      coalesce(populations[i], time, std::numeric_limits<double>::infinity(), sizes[i]);
    }
    for (ancestor_ = 0; nodes_[static_cast<std::size_t>(ancestor_)].focal < n;) ++ancestor_;
    for (const Node& node : nodes_) {
      for (const int child : node.children) {
        if (child >= 0) at(child).branch = node.time - at(child).time;
      }
    }
  }

  void coalesce(std::vector<int>& lineages, double time, double end, double size) {
    while (lineages.size() > 1) {
      const double k = static_cast<double>(lineages.size());
      time += -std::log1p(-uniform()) * 2 * size / (k * (k - 1) / 2);
      if (time > end) return;
      int pair[2];
      for (int& child : pair) {
        const int i = pick(lineages.size());
        child = lineages[static_cast<std::size_t>(i)];
        lineages.erase(lineages.begin() + i);
      }
      nodes_.push_back({time, {pair[0], pair[1]}, at(pair[0]).focal + at(pair[1]).focal});
      lineages.push_back(static_cast<int>(nodes_.size()) - 1);
    }
  }

  Node& at(int i) { return nodes_[static_cast<std::size_t>(i)]; }

  // True if a mutation on the branch above the node makes focal haplotypes differ.
  bool is_within(int node) {
    return at(node).focal > 0 && at(node).focal < history_.focal_lineages;
  }
  double length(bool within) {
    double sum = 0;
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      if (!within || is_within(i)) sum += at(i).branch;
    }
    return sum;
  }

  // A site with `within` mutations in the focal genealogy and `elsewhere` outside it, at random
  // places. If `within` is 0, `elsewhere` means anywhere.
  SimulatedSite mutated(int elsewhere, int within, double weight) {
    std::vector<int> hits(nodes_.size());
    const bool anywhere = within == 0;
    for (int i = 0; i < elsewhere + within; ++i) {
      const bool inside = i >= elsewhere;
      double left =
          uniform() * (inside ? length(true) : length(false) - (anywhere ? 0 : length(true)));
      int node = 0;
      for (int j = 0; j < static_cast<int>(nodes_.size()); ++j) {
        if (at(j).branch == 0 || (!anywhere && is_within(j) != inside)) continue;
        node = j;
        if (left < at(j).branch) break;
        left -= at(j).branch;
      }
      ++hits[static_cast<std::size_t>(node)];
    }
    at(static_cast<int>(nodes_.size()) - 1).base = pick(kBases);
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
      for (int hit = 0; hit < hits[static_cast<std::size_t>(i)]; ++hit) mutate(at(i).base);
      for (const int child : at(i).children) {
        if (child >= 0) at(child).base = at(i).base;
      }
    }
    SimulatedSite site = {weight, at(ancestor_).base, {}, {}};
    for (int i = 0; i < history_.focal_lineages; ++i) ++site.copies[at(i).base];
    for (int i = 0; i < history_.outgroups(); ++i) {
      site.outgroups.push_back(at(history_.focal_lineages + i).base);
    }
    return site;
  }

  void mutate(int& base) {
    if (uniform() * (model_.kappa + 2) < model_.kappa) {
      base ^= 2;
    } else {
      base ^= 1 + 2 * pick(2);
    }
  }

  const History history_;
  const K80 model_;
  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  int ancestor_ = 0;
};

}  // namespace ancify::test
