// The focal population since its first split: the number of a sample's lineages that reach the
// split, and the number of copies that a mutation in this branch leaves in the sample.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "core/ancestry/coalescent/history.h"

namespace ancify {

// Exponentials of generators are sums over the nodes of a contour: exp(A) = sum of weight * (node -
// A)^-1 (Trefethen, Weideman & Schmelzer 2006, BIT 46:653). This is valid because the eigenvalues
// are real and not positive; the error is below 1e-13. For thousands of lineages the death process
// is too stiff for time steps, and its alternating sums (Tavare 1984, Theor. Popul. Biol. 26:119)
// cancel. The contour costs a few operations a lineage.
class FocalBranch {
 public:
  using Complex = std::complex<double>;

  // `lineages`: sampled haplotypes; `epochs`: back in time up to the split; `rates`: mutations per
  // generation.
  FocalBranch(int lineages, const std::vector<SizeEpoch>& epochs, const RateMatrix& rates);

  int lineages() const { return lineages_; }
  // P(k lineages remain at the split), for k from 1 to `lineages`.
  double reach(int k) const;
  // The smallest k such that more than k lineages remain with a probability below `tail`.
  int most_left(double tail) const;
  // [x][z]: P(one lineage remains, the sample's common ancestor has base z | the lineage has base
  // x).
  const RateMatrix& stem() const { return stem_; }

  // The expected number of mutations, at rate 1 per generation, that leave `copies` in the sample.
  // Without `copies`, the sum over all counts from 1 to `lineages` - 1.
  struct Mutated {
    std::vector<double> left;  // [k]: and k >= 2 lineages remain, none of which carries it
    RateMatrix stem;           // [x][z]: and one remains, as in stem()
  };
  // The result's `left` ends at k = `most`.
  Mutated mutated(std::optional<int> copies, int most) const;

  // P(`kept` + `carried` lineages remain) * P(sample with `copies` of an allele | `carried` of them
  // have it); without `copies` the sum over these. This and mutated() omit the factor 1 /
  // choose(lineages, copies), which is equal for all histories of a sample.
  double split_sample(std::optional<int> copies, int kept, int carried) const;

 private:
  std::vector<double> ways(std::optional<int> copies) const;

  // (node - A)^-1 of an epoch, applied to the epoch's initial values.
  struct Node {
    Complex weight;
    std::vector<Complex> left;                             // [l]: l lineages
    std::vector<Complex> stay;                             // [l]: 1 / (node + rate(l))
    std::array<std::array<Complex, kBases>, kBases> stem;  // (node - Q t)^-1
  };
  struct Stretch {
    double generations;
    double time;  // generations / 2N
    std::vector<Node> nodes;

    double rate(std::size_t l) const {
      return static_cast<double>(l) * static_cast<double>(l - 1) / 2 * time;
    }
  };

  void add_stretch(const SizeEpoch& epoch, const RateMatrix& rates);
  static void add_stem(RateMatrix& stem, const Node& node, Complex inflow,
                       const RateMatrix& before);

  int lineages_;
  std::vector<double> reach_;
  RateMatrix stem_ = {};
  std::vector<Stretch> stretches_;
};

}  // namespace ancify
