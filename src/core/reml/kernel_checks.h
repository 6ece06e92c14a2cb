// What is checked of kernels on the exact path.
#pragma once

#include <cstdio>
#include <string>

#include "core/exec/errors.h"

namespace ancify::reml {

// Kernels in files are rounded. An eigenvalue below this share of the mean one is no rounding
// error if it is negative.
constexpr double kNegativeEigenvalue = 1e-6;

// A kernel whose part outside earlier ones is a smaller share of it, in squares, depends on them.
constexpr double kDependentKernel = 1e-11;

// InputError if an eigenvalue is negative. `mean` is that of all.
inline void check_smallest_eigenvalue(double smallest, double mean, const std::string& name) {
  if (smallest >= -kNegativeEigenvalue * mean) return;
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", smallest);
  throw InputError("the kernel of " + name + " has the negative eigenvalue " + text +
                   " on these samples; a kernel must have none");
}

inline InputError dependent_kernel(const std::string& name) {
  return InputError("the kernel of " + name +
                    " is a sum of multiples of the kernels before it and of the residual's, beyond "
                    "the fixed effects; leave it out");
}

}  // namespace ancify::reml
