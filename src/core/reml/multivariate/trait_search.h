// The search for the largest restricted likelihood of several traits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/reml/fit/fit.h"
#include "core/reml/multivariate/cone_step.h"
#include "core/reml/multivariate/trait_model.h"

namespace ancify::reml {

// A hypothesis on the correlation of two traits by a component.
struct TraitConstraint {
  enum class Kind { kNone, kUncorrelated, kProportional };
  Kind kind = Kind::kNone;
  std::size_t component = 0;
  TraitPair pair = {1, 0};
};

// The coordinates phi of a search, which satisfy a constraint, and theta as a function of them.
// With u_b = c u_a for two proportional traits, C = B C* B', where C* lacks b: phi consists of C*
// and c.
class TraitSpace {
 public:
  // `floor`: least eigenvalue of the residual covariance.
  TraitSpace(const TraitModel& model, const TraitConstraint& constraint, double floor);

  // A point of the space near theta.
  std::vector<double> nearest(const std::vector<double>& theta) const;
  std::vector<double> theta(const std::vector<double>& phi) const;
  // d theta / d phi, a column for each coordinate.
  std::vector<double> jacobian(const std::vector<double>& phi) const;
  // sum_i s_i d2 theta_i / d phi2.
  std::vector<double> curvature(const std::vector<double>& phi,
                                const std::vector<double>& score) const;
  const std::vector<CovarianceBlock>& blocks() const { return blocks_; }
  const std::vector<char>& fixed() const { return fixed_; }

 private:
  // Index of the factor c.
  std::size_t factor() const {
    const CovarianceBlock& block = blocks_[constraint_.component];
    return block.first + number_of_pairs(block.size);
  }

  std::size_t traits_;
  std::size_t components_;
  TraitConstraint constraint_;
  std::vector<CovarianceBlock> blocks_;
  std::vector<char> fixed_;
};

struct TraitMaximum {
  std::vector<double> theta;
  double log_likelihood = 0;
  TraitDerivatives derivatives;
  bool converged = false;
  std::string status;
  std::string message;
  std::vector<Iteration> iterations;
};

// Searches from theta, where the covariance must be positive definite, and leaves the model at the
// maximum. Only the tolerance and the number of iterations of `settings` count.
// DependentComponent if a component is not identifiable beside the others.
TraitMaximum search_traits(TraitModel& model, const TraitSpace& space,
                           const std::vector<double>& start, const SearchSettings& settings);

}  // namespace ancify::reml
