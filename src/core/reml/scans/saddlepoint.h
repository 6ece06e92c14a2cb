// Tail probabilities of a score of cases and controls, by saddlepoint approximation.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::reml {

// S = sum_i g_i (Y_i - m_i) + e, with independent Y_i of 0 and 1 whose means are m_i, 0 < m_i < 1,
// and a normal e of mean 0.
class BernoulliScore {
 public:
  // `normal_variance`: of e.
  BernoulliScore(std::vector<double> weights, std::vector<double> means, double normal_variance);

  double variance() const { return variance_; }
  // r such that P(S > s), for s > 0, or P(S < s), for s < 0, is about a standard normal's tail
  // beyond r. s / sqrt(variance()) if S cannot exceed s.
  double signed_root(double s) const;

 private:
  // The cumulant generating function at t, and its first two derivatives.
  struct Cumulants {
    double value, slope, curvature;
  };
  Cumulants at(double t) const;
  // t with slope s.
  double saddlepoint(double s) const;

  std::vector<double> weights_;
  std::vector<double> means_;
  double normal_variance_;
  double variance_;
  double least_;  // value of S without e
  double most_;
};

}  // namespace ancify::reml
