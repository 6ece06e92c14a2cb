// Projects allele counts at a site to a smaller sample of haplotypes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// The haplotypes called at a site in one population, and how many carry the derived allele.
struct AlleleCount {
  int called;
  int derived;
};

inline bool operator<(AlleleCount a, AlleleCount b) {
  return a.called != b.called ? a.called < b.called : a.derived < b.derived;
}
inline bool operator==(AlleleCount a, AlleleCount b) {
  return a.called == b.called && a.derived == b.derived;
}

// The probabilities of `first`, `first` + 1, ... derived copies; all others are 0.
struct ProjectionWeights {
  int first;
  std::size_t n;
  const double* weights;
};

// The number of derived-allele counts with a probability above 0 in a sample of `size` haplotypes.
// `count.called` must be at least `size`.
std::size_t projected_numbers(AlleleCount count, int size);

// The hypergeometric probabilities of derived copies among `size` haplotypes drawn from `count`.
// They are written to `workspace`, a workspace of projected_numbers() values that must outlive the
// result.
ProjectionWeights project_count(AlleleCount count, int size, double* workspace);

// The weights of many counts of one population. They are stored if there are at most
// `most_remembered` in all; otherwise each request recomputes them.
class ProjectionCache {
 public:
  ProjectionCache(const std::vector<AlleleCount>& counts, int size,
                  std::size_t most_remembered = std::size_t{1} << 25);
  // The weights of counts[index]. The workspace `workspace` holds size + 1 values; it is used if no
  // weights are stored.
  ProjectionWeights weights(std::size_t index, double* workspace) const;

 private:
  std::vector<AlleleCount> counts_;
  int size_;
  std::vector<std::size_t> starts_;
  std::vector<double> values_;  // empty if too many would be needed
};

}  // namespace ancify
