// Propagates the values of samples through time, for several recombination rates at once.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/two_locus/rates.h"

namespace ancify::two_locus {

// Values at this many recombination rates, which are propagated together.
constexpr std::size_t kBundle = 8;
using Bundle = std::array<double, kBundle>;

// The value of each sample, at each rate.
using Values = std::vector<Bundle>;

// The values after this time under a rate matrix. InputError if rates times time are too large;
// Interrupted if the job is stopped.
void propagate(const RateMatrix& rates, const Bundle& recombination, double time, Values& values,
               SimdLevel level, const TaskContext& context);

// The values after a transition.
Values transformed(const SparseMatrix& transition, const Values& values);

}  // namespace ancify::two_locus
