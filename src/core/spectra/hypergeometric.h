// What becomes of a site when fewer haplotypes are drawn from those called at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// Haplotypes called at a site in one population, and how many of them have the derived allele.
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

// How many numbers of derived copies have a probability above 0. At least `size` are called.
std::size_t projected_numbers(AlleleCount count, int size);

// The hypergeometric probabilities of derived copies among `size` haplotypes drawn from `count`.
// `room` takes projected_numbers() of them and has to stay.
ProjectionWeights project_count(AlleleCount count, int size, double* room);

// The weights of many counts of one population, computed once where they are not too many.
class ProjectionCache {
 public:
  ProjectionCache(const std::vector<AlleleCount>& counts, int size,
                  std::size_t most_remembered = std::size_t{1} << 25);
  // Of the count with this index; `room` takes size + 1 numbers, for weights not remembered.
  ProjectionWeights weights(std::size_t index, double* room) const;

 private:
  std::vector<AlleleCount> counts_;
  int size_;
  std::vector<std::size_t> starts_;
  std::vector<double> values_;  // empty where they are too many
};

}  // namespace ancify
