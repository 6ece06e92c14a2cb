// Moments after some time with constant parameters.
#pragma once

#include <vector>

#include "core/exec/threads.h"
#include "core/moments/generator.h"

namespace ancify::moments {

// How often advance() applies a generator of this spectral radius, if one series suffices.
double applications(double radius, double time);

// Replaces c by the solution of dc/dt = A c + b after `time`. Interrupted if the job is stopped.
void advance(Generator& generator, double time, std::vector<double>& c, const TaskContext& context);

}  // namespace ancify::moments
