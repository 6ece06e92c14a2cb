// Projects columns onto the complement of the fixed effects.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reml/fit/error_contrasts.h"
#include "core/reml/fit/fit.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// Q is an orthonormal basis of X's columns, and S = I - QQ'.
class FixedEffects {
 public:
  // InputError as from check_data() and response_unit(), or if a column of X depends on earlier
  // ones.
  FixedEffects(const FitData& data, const Workers& workers);

  std::int64_t samples() const { return n_; }
  int effects() const { return p_; }
  // Dimension of the complement, n - p.
  std::int64_t freedom() const { return n_ - p_; }
  // Q, n x p.
  const std::vector<double>& basis() const { return q_; }
  // S y.
  const std::vector<double>& projected_y() const { return y_; }
  // y'Sy / (n - p).
  double variance() const { return variance_; }
  // The response's unit, as response_unit() gives it.
  double unit() const { return unit_; }
  // Replaces V, n x columns, by S V.
  void project(const Workers& workers, int columns, double* v) const;
  // n - p orthogonal vectors of squared length n - p that span the complement. The mean of z'Az
  // over them is the trace of SAS.
  std::vector<double> orthogonal_probes() const;
  // R^-1 Q'v with X = QR: the coefficients of a column v.
  std::vector<double> coefficients(const Workers& workers, const std::vector<double>& v) const;
  // R^-1 A R'^-1, p x p: the covariance of coefficients, from the covariance A of Q's.
  std::vector<double> covariance(std::vector<double> a) const;

 private:
  ErrorContrasts contrasts_;
  std::int64_t n_;
  int p_;
  std::vector<double> q_;
  std::vector<double> y_;
  double unit_;
  double variance_;
};

}  // namespace ancify::reml
