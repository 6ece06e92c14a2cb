// Products with P = H^-1 - H^-1 X (X'H^-1 X)^-1 X'H^-1 at some variances.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/solvers/conjugate_gradients.h"
#include "core/reml/solvers/covariance.h"
#include "core/reml/solvers/preconditioner.h"

namespace ancify::reml {

class Projection {
 public:
  virtual ~Projection() = default;
  // P v for columns v of length n; `tolerance` is the relative residual of solves.
  virtual std::vector<double> times(std::vector<double> v, double tolerance) const = 0;
};

// P as a matrix, as from projection_at().
class DenseProjection : public Projection {
 public:
  DenseProjection(std::vector<double> p, const Workers& workers);
  std::vector<double> times(std::vector<double> v, double tolerance) const override;

 private:
  std::vector<double> p_;
  Workers workers_;
};

// P by conjugate gradients. `model` must outlive this.
class SolvedProjection : public Projection {
 public:
  // InputError for a kernel with a negative eigenvalue.
  SolvedProjection(const RestrictedModel& model, const std::vector<double>& theta,
                   std::uint64_t seed);
  // First projects the fixed effects out of the columns of v. InputError if a column was not
  // solved.
  std::vector<double> times(std::vector<double> v, double tolerance) const override;

 private:
  const RestrictedModel& model_;
  RestrictedCovariance covariance_;
  Sketch sketch_;
  Preconditioner preconditioner_;
};

}  // namespace ancify::reml
