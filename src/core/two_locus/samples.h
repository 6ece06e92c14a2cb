// Samples of lineages at two loci, and their indices.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::two_locus {

// A haplotype of a population, and the loci at which a sample follows it.
struct Lineage {
  static constexpr unsigned kLeft = 1;
  static constexpr unsigned kRight = 2;
  static constexpr unsigned kBoth = kLeft | kRight;

  int population;
  unsigned loci;
};

// Two lineages at each locus that it follows, or none at a locus.
using Sample = std::vector<Lineage>;

// All samples of some populations, up to the order of lineages and an exchange of the two loci.
// Their order: the empty sample; two lineages at one locus, a sample for each pair of populations;
// two haplotypes with both loci; one haplotype with both loci and one for each locus; two for each
// locus.
class Samples {
 public:
  explicit Samples(int populations);

  int populations() const { return populations_; }
  const std::vector<Sample>& all() const { return all_; }
  std::size_t size() const { return all_.size(); }
  std::size_t pairs() const;
  // The index of two populations in the order 0 0, 0 1, ..., 1 1, ...
  std::size_t pair(int i, int j) const;

  // Indices of samples: lineages at one locus in i and j
  std::size_t one_locus(int i, int j) const { return 1 + pair(i, j); }
  // two haplotypes in i and j
  std::size_t two_haplotypes(int i, int j) const { return 1 + pairs() + pair(i, j); }
  // a haplotype in i, a left lineage in j, a right one in k
  std::size_t three_haplotypes(int i, int j, int k) const;
  // left lineages in i and j, right ones in k and l
  std::size_t four_haplotypes(int i, int j, int k, int l) const;
  std::size_t index(const Sample& sample) const;

 private:
  int populations_;
  std::vector<Sample> all_;
};

}  // namespace ancify::two_locus
