// Checks of kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/reml/fit/fit.h"
#include "core/reml/fit/steps.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

// Kernels in files are rounded. A negative eigenvalue beyond this share of the mean eigenvalue is
// not rounding error.
constexpr double kNegativeEigenvalue = 1e-6;

// A kernel depends on earlier ones if its part outside their span is below this share of its sum of
// squares.
constexpr double kDependentKernel = 1e-11;

// A kernel has no variance beyond the fixed effects if its trace there is below this share of its
// whole trace.
constexpr double kNoVariance = 1e-12;

// InputError if kernels and data have different samples.
inline void check_samples(const FitData& data, const Kernels& kernels) {
  if (kernels.samples() == data.samples()) return;
  throw InputError("the kernels have " + std::to_string(kernels.samples()) +
                   " samples, but y has " + std::to_string(data.samples()));
}

// InputError if an eigenvalue is negative. `mean`: the mean eigenvalue.
inline void check_smallest_eigenvalue(double smallest, double mean, const std::string& name) {
  if (smallest >= -kNegativeEigenvalue * mean) return;
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", smallest);
  throw InputError("the kernel of " + name + " has the negative eigenvalue " + text +
                   " on these samples; a kernel must have none");
}

// InputError if an n x n kernel, with both triangles, has a negative eigenvalue.
void check_positive(const Workers& workers, std::int64_t n, const std::vector<double>& kernel,
                    const std::string& name);

// InputError if a kernel of trace `whole` has no variance beyond the fixed effects, where its trace
// is `left`, or if its squares overflow.
inline void check_variance_left(double left, double whole, const std::string& name) {
  if (whole > kLargestSize || (whole > 0 && whole < 1 / kLargestSize)) {
    throw InputError("the kernel of " + name +
                     " is too large or too small for its squares; give it in other units");
  }
  if (whole > 0 && left > kNoVariance * whole) return;
  throw InputError("the kernel of " + name +
                   " has no variance beyond the fixed effects; leave it out");
}

inline InputError dependent_kernel(const std::string& name) {
  return InputError("the kernel of " + name +
                    " is a sum of multiples of the kernels before it and of the residual's, beyond "
                    "the fixed effects; leave it out");
}

// Calls work(), and names a kernel of the data in its DependentComponent. The residual is never the
// component to leave out.
template <class Work>
auto with_names(const FitData& data, int kernels, const Work& work) {
  try {
    return work();
  } catch (const DependentComponent& error) {
    const std::size_t kernel = std::min(error.component, static_cast<std::size_t>(kernels) - 1);
    throw DependentComponent(kernel, component_name(data, kernel));
  }
}

}  // namespace ancify::reml
