// The lasso (Tibshirani 1996, JRSS B 58:267), for a quadratic form.
#pragma once

#include <functional>
#include <vector>

namespace ancify::reml {

// A symmetric matrix by columns, so that it can grow.
using SymmetricColumns = std::vector<std::vector<double>>;

// How far from the conditions of the minimum an effect b is, whose slope q - Qb is `slope`: at it
// the slope is lambda in the direction of b, and between -lambda and lambda for b = 0.
double lasso_violation(double b, double slope, double lambda);

// Minimises 1/2 b'Qb - q'b + lambda |b|_1, from the start `b`, until no effect violates its
// condition by more than `tolerance`. Q has positive diagonal elements and no negative eigenvalue.
// between() is called several times a second, and may throw. InputError if it does not end.
void minimise_lasso(const SymmetricColumns& q_matrix, const std::vector<double>& q, double lambda,
                    double tolerance, const std::function<void()>& between, std::vector<double>& b);

}  // namespace ancify::reml
