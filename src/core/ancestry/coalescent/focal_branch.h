// The focal population since it split from the others: how many of a sample's lineages come back
// to the split, and where a mutation on the way leaves how many copies.
#pragma once

#include <complex>
#include <vector>

#include "core/ancestry/coalescent/history.h"

namespace ancify {

// Sums over nodes of a contour stand for exponentials of the generators, all of whose eigenvalues
// are real and at most 0: exp(A) = sum of weight * (node - A)^-1 (Trefethen, Weideman & Schmelzer
// 2006, BIT 46:653; the rule's error is below 1e-13). The death process of a sample of thousands
// is too stiff for time steps, and its alternating sums (Tavare 1984) cancel; here it costs a few
// operations a lineage.
class FocalBranch {
 public:
  using Complex = std::complex<double>;

  // rates: of mutations per generation, as long as the branch is.
  FocalBranch(int lineages, double size, double generations, const RateMatrix& rates);

  int lineages() const { return lineages_; }
  // P(k lineages are left at the split), k from 1 to `lineages`.
  double reach(int k) const;
  // The fewest such that more are left with a probability below `tail`.
  int most_left(double tail) const;
  // [x][z]: P(one lineage is left, the sample's common ancestor is z | the lineage is x).
  const RateMatrix& stem() const { return stem_; }

  // A mutation in the branch, of rate 1 per generation, that `copies` of the sample carry.
  struct Mutated {
    std::vector<double> left;  // [k]: k >= 2 lineages are left, none of which carries it
    RateMatrix stem;           // one is left, as in stem()
  };
  // Lineages beyond `most` are not looked at.
  Mutated mutated(int copies, int most) const;

  // P(sample with `copies` of an allele | at the split `kept` lineages without and `carried` with
  // it are left) * P(as many are left); all up to the factor 1 / choose(lineages, copies), which
  // every way to the same sample has (and mutated() leaves out too).
  double split_sample(int copies, int kept, int carried) const;

 private:
  struct Node {
    Complex weight;
    std::vector<Complex> down;  // [l]: product over i > l of rate(i) / (node + rate(i))
    std::vector<Complex> stay;  // [l]: 1 / (node + rate(l))
    std::array<std::array<Complex, kBases>, kBases> stem;  // (node - Q)^-1
  };
  int lineages_;
  double generations_;
  std::vector<double> reach_;
  RateMatrix stem_ = {};
  std::vector<Node> nodes_;
};

}  // namespace ancify
