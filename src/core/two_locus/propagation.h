// Carries the values of samples through time, for several rates of recombination at once.
#pragma once

#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/two_locus/rates.h"

namespace ancify::two_locus {

// A rate of recombination in each lane. The compiler makes vectors of them, by the instruction set.
constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

// Lanes at any address of a double.
struct __attribute__((packed, may_alias)) UnalignedLanes {
  Lanes lanes;
};

// A value of each sample.
using Values = std::vector<UnalignedLanes>;

// The values after this time under a matrix of rates. InputError if rates times the time are too
// large; Interrupted if the job is stopped.
void propagate(const RateMatrix& rates, const Lanes& recombination, double time, Values& values,
               SimdLevel level, const TaskContext& context);

// The values after a transition.
Values transformed(const SparseMatrix& transition, const Values& values);

}  // namespace ancify::two_locus
