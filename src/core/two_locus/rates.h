// The rates at which samples of lineages change backwards in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/diffusion/schedule.h"
#include "core/two_locus/samples.h"

namespace ancify::two_locus {

// A sparse matrix: row i has columns[k] and values[k] for k from starts[i] to starts[i + 1].
struct SparseMatrix {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> columns;
  std::vector<double> values;

  std::size_t rows() const { return starts.size() - 1; }
};

// The rate matrix: `fixed` plus the recombination rate times `recombination`. `fastest` holds the
// largest absolute diagonal element of both.
struct RateMatrix {
  SparseMatrix fixed;
  SparseMatrix recombination;
  double fastest_fixed = 0;
  double fastest_recombination = 0;
};

// Makes the matrices of a schedule's time steps. A frozen population does not change.
class Rates {
 public:
  Rates(const Samples& samples, const diffusion::Schedule& schedule);

  // A matrix with the sparsity pattern for fill().
  const RateMatrix& pattern() const { return pattern_; }
  // Sets the values of a matrix that is a copy of pattern().
  void fill(const diffusion::TimeStep& step, RateMatrix& matrix) const;

 private:
  // Adds a weight times a parameter to an element of the matrix.
  struct Term {
    std::uint32_t value;
    std::uint32_t parameter;
    double weight;
  };
  int populations_;
  RateMatrix pattern_;
  std::vector<Term> terms_;
  std::vector<std::uint32_t> diagonal_;  // values of `fixed` on the diagonal
};

// The matrix of a transition: samples after it in terms of samples before it.
SparseMatrix transition_matrix(const Samples& before, const Samples& after,
                               const diffusion::Transition& transition);

}  // namespace ancify::two_locus
