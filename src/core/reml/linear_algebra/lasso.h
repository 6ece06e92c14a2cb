// The lasso (Tibshirani 1996, JRSS B 58:267), for a quadratic form.
#pragma once

#include <functional>
#include <vector>

namespace ancify::reml {

// A symmetric matrix by columns, so that it can grow.
using SymmetricColumns = std::vector<std::vector<double>>;

// The violation of the optimality conditions by an effect b with gradient q - Qb = `slope`. At the
// minimum the gradient is lambda in the direction of b, and between -lambda and lambda for b = 0.
double lasso_violation(double b, double slope, double lambda);

// Follows the minimum of 1/2 b'Qb - q'b + lambda |b|_1 as lambda falls. Between lambdas at which an
// effect joins or leaves, the path is linear. If effects are indistinguishable, the path only
// approximates the minimum, and minimise_lasso() can start from it. `q_matrix` must outlive this.
class LassoPath {
 public:
  LassoPath(const SymmetricColumns& q_matrix, std::vector<double> q);

  // Moves to a lambda no larger than earlier ones. between() as in minimise_lasso().
  const std::vector<double>& at(double lambda, const std::function<void()>& between);

 private:
  struct Event {
    double way;          // decrease of lambda until the event
    std::size_t effect;  // joins or leaves; the number of effects if none does
    bool joins;
  };

  bool is_in(std::size_t effect) const { return signs_[effect] != 0; }
  // The change of effects while lambda falls by 1.
  std::vector<double> direction() const;
  std::vector<double> slope_changes(const std::vector<double>& direction) const;
  Event next(double goal, const std::vector<double>& direction,
             const std::vector<double>& changes) const;
  // True if an effect can join. `row` becomes its row of the factor.
  bool is_independent(std::size_t effect, std::vector<double>& row) const;
  void join(std::size_t effect, std::vector<double> row);
  void leave(std::size_t effect);
  void find_slopes();

  const SymmetricColumns& q_matrix_;
  std::vector<double> q_;
  std::vector<double> b_;
  std::vector<double> slopes_;
  std::vector<double> signs_;                // 0 for effects that have not joined
  std::vector<char> barred_;                 // effects that depend on joined ones
  std::vector<std::size_t> in_;              // effects that have joined, in the order of `factor_`
  std::vector<std::vector<double>> factor_;  // L of their part of Q = L L', by rows
  std::size_t left_last_;
  double lambda_;
};

// Minimises 1/2 b'Qb - q'b + lambda |b|_1 from the start `b`, until no effect violates its
// condition by more than `tolerance`. Q has positive diagonal elements and no negative eigenvalue.
// between() is called several times a second, and may throw. InputError if it does not converge.
void minimise_lasso(const SymmetricColumns& q_matrix, const std::vector<double>& q, double lambda,
                    double tolerance, const std::function<void()>& between, std::vector<double>& b);

}  // namespace ancify::reml
