// Cholesky factor and inverse of a large matrix, in steps of less than a second.
#pragma once

#include <functional>
#include <vector>

namespace ancify::reml {

// The lower triangle of the n x n matrix `a` becomes its Cholesky factor. False if it is not
// positive definite. between() is called several times a second, and may throw.
bool factorise(int n, std::vector<double>& a, const std::function<void()>& between);

// (L L')^-1, n x n, of which the lower triangle is right.
std::vector<double> invert(int n, const std::vector<double>& factor,
                           const std::function<void()>& between);

}  // namespace ancify::reml
