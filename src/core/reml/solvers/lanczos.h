// The Lanczos method for many vectors at once.
#pragma once

#include <vector>

#include "core/reml/linear_algebra/quadrature.h"
#include "core/reml/solvers/covariance.h"

namespace ancify::reml {

class Lanczos {
 public:
  // Runs with A = SHS. The vectors v_1, v_2, ... of the first run are added to `of_first`, if it is
  // not null. Both must outlive this.
  explicit Lanczos(const RestrictedCovariance& covariance, std::vector<double>* of_first = nullptr)
      : covariance_(covariance), of_first_(of_first) {}

  // Adds runs that start at columns v on the complement.
  void add(int columns, const double* v);
  // Extends each run until it has this many steps or is exhausted. Runs with equally many steps
  // share the pass of a step.
  void advance(int steps);
  const std::vector<LanczosRun>& runs() const { return runs_; }

 private:
  void step(std::size_t from);
  void drop_exhausted();

  const RestrictedCovariance& covariance_;
  std::vector<double>* of_first_;
  std::vector<LanczosRun> runs_;
  // For the runs that are not exhausted, in order:
  std::vector<std::size_t> going_;
  std::vector<double> vectors_;  // the last vector, n x runs
  std::vector<double> earlier_;  // the one before it
};

}  // namespace ancify::reml
