// What is checked of kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "core/exec/errors.h"
#include "core/reml/fit.h"
#include "core/reml/kernels.h"
#include "core/reml/steps.h"

namespace ancify::reml {

// Kernels in files are rounded. An eigenvalue below this share of the mean one is no rounding
// error if it is negative.
constexpr double kNegativeEigenvalue = 1e-6;

// A kernel whose part outside earlier ones is a smaller share of it, in squares, depends on them.
constexpr double kDependentKernel = 1e-11;

// A kernel whose trace beyond the fixed effects is a smaller share of its trace has none there.
constexpr double kNoVariance = 1e-12;

// InputError if kernels and data have different samples.
inline void check_samples(const FitData& data, const Kernels& kernels) {
  if (kernels.samples() == data.samples()) return;
  throw InputError("the kernels have " + std::to_string(kernels.samples()) +
                   " samples, but y has " + std::to_string(data.samples()));
}

// InputError if an eigenvalue is negative. `mean` is that of all.
inline void check_smallest_eigenvalue(double smallest, double mean, const std::string& name) {
  if (smallest >= -kNegativeEigenvalue * mean) return;
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", smallest);
  throw InputError("the kernel of " + name + " has the negative eigenvalue " + text +
                   " on these samples; a kernel must have none");
}

// InputError if a kernel, of trace `whole`, has no variance beyond the fixed effects, where its
// trace is `left`.
inline void check_variance_left(double left, double whole, const std::string& name) {
  if (whole > 0 && left > kNoVariance * whole) return;
  throw InputError("the kernel of " + name +
                   " has no variance beyond the fixed effects; leave it out");
}

inline InputError dependent_kernel(const std::string& name) {
  return InputError("the kernel of " + name +
                    " is a sum of multiples of the kernels before it and of the residual's, beyond "
                    "the fixed effects; leave it out");
}

// work(), whose DependentComponent gets the name of one of the data's kernels. The residual is
// never the one to leave out.
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
