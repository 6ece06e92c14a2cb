// Computes the two-locus statistics that demographic models expect.
#pragma once

#include <vector>

#include "core/device/simd.h"
#include "core/diffusion/events.h"
#include "core/exec/job_control.h"

namespace ancify::two_locus {

// The statistics of one model. Populations i, j, k and l count from 0, and pairs are in the order
// 0 0, 0 1, ..., 1 1, ...
struct Statistics {
  // For each rate: E[D_i D_j] of each pair; E[D_i (1 - 2 p_j) (1 - 2 q_k)] of each i and pair j k;
  // E[p_i (1 - p_j) q_k (1 - q_l)] of each pair of pairs, as a mean over orders.
  std::vector<double> two_loci;
  // E[p_i (1 - p_j) + p_j (1 - p_i)] of each pair
  std::vector<double> heterozygosity;
};

// The number of two-locus statistics.
std::size_t number_of_statistics(int populations);

// The statistics at the end of each plan, with steps as in middle_steps(). `rates`: 2 Nref times
// the recombination rates between both loci. Neither threads nor `level` change the result.
// InputError for a plan with selection.
std::vector<Statistics> expected_statistics(const std::vector<diffusion::Plan>& plans,
                                            const std::vector<double>& rates, SimdLevel level,
                                            int threads, JobControl& control);

// Extrapolates statistics computed with 1, 2, 4, ... times as many steps to a step length of 0
// (Romberg). Midpoint steps have errors of even powers of the step length.
class Extrapolation {
 public:
  void add(const Statistics& statistics);
  const Statistics& best() const { return best_; }
  // The largest difference of two_loci between the last two extrapolations, relative to the value
  // or to 1e-4 of the largest value, whichever is larger; infinite after the first.
  double error() const { return error_; }

 private:
  std::vector<Statistics> last_;  // the last row of the scheme
  Statistics best_;
  double error_ = 0;
};

// True if a plan has a step that differs from the others of its epoch.
bool has_change(const diffusion::Plan& plan);

}  // namespace ancify::two_locus
