// The exact null distribution of one kernel's likelihood-ratio statistic.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"

namespace ancify::reml {

// The statistic as a function of the kernel's eigenvalues on X's complement, and of the squares of
// the data in the coordinates of its eigenvectors.
class NullLrt {
 public:
  // Eigenvalues below 0 count as 0. InputError if none is positive.
  explicit NullLrt(std::vector<double> eigenvalues);
  // 2 max over theta_1 >= 0 of the gain in restricted log-likelihood. Takes N squares.
  double statistic(const std::vector<double>& squares) const;

 private:
  // For a kernel variance of `ratio` times the residual's: the first and second derivatives of the
  // statistic with respect to `ratio`, and the sum of squares / h.
  struct Slopes {
    double first;
    double second;
    double rest;
  };
  Slopes slopes(double ratio, const std::vector<double>& squares) const;
  double peak(double from, double to, const std::vector<double>& squares) const;

  std::vector<double> eigenvalues_;
  std::vector<double> ratios_;            // a grid from 0 on
  std::vector<double> weights_;           // 1 / h at each, for each eigenvalue
  std::vector<double> log_determinants_;  // sum of log(h) at each
};

// Independent draws of the statistic under the null hypothesis. Their bytes do not depend on the
// number of threads.
std::vector<double> draw_null_lrt(const std::vector<double>& eigenvalues, std::int64_t draws,
                                  std::uint64_t seed, int threads, JobControl& control);

}  // namespace ancify::reml
