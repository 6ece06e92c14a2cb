// The steps of a search for the largest restricted likelihood under lower bounds. All functions are
// pure; k is the number of components, the residual's included.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/exec/errors.h"

namespace ancify::reml {

// The local model at theta: l(theta + d) is about l(theta) + s'd - d'Id / 2, for theta + d >=
// lower.
struct LocalModel {
  std::vector<double> theta;
  std::vector<double> lower;        // -infinity if there is no bound
  std::vector<double> score;        // s
  std::vector<double> information;  // I, k x k, symmetric, positive semidefinite
};

// Marks components at their bound that would move below it. All others are free.
std::vector<char> at_bound(const LocalModel& model);

// s'I^-1 s over the free components: twice the predicted log-likelihood gain of a full step.
double decrement(const LocalModel& model);

struct Step {
  std::vector<double> theta;  // after the step; exactly `lower` for components at their bound
  double length;              // sqrt(d'Id)
};

// The step d that maximises s'd - d'Id / 2 under the bounds. If sqrt(d'Id) exceeds `radius`, d is
// shortened to it.
Step bounded_step(const LocalModel& model, double radius);

// The first row of a symmetric k x k matrix that depends on earlier rows: its Cholesky pivot is at
// most `smallest` times its diagonal. k if no row does.
std::size_t first_dependent(std::vector<double> matrix, std::size_t k, double smallest);

// The error for a component that is not identifiable beside the earlier ones.
class DependentComponent : public InputError {
 public:
  DependentComponent(std::size_t component, const std::string& name)
      : InputError(name + " cannot be told apart from the others; leave it out"),
        component(component) {}
  std::size_t component;
};

// The inverse of the free components' part of `information`, k x k, with zeros elsewhere: the
// covariance of estimates. Throws DependentComponent, with an index instead of a name.
std::vector<double> free_inverse(const std::vector<double>& information,
                                 const std::vector<char>& at_bound);

}  // namespace ancify::reml
