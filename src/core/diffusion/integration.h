// Evolves a density through time by drift, migration, selection and new mutations.
#pragma once

#include "core/device/simd.h"
#include "core/diffusion/density.h"
#include "core/diffusion/schedule.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// Advances the density through all steps of the schedule. Each step is implicit, along one axis
// after another (Gutenkunst and others 2009). Idle threads of the context take parts of a sweep;
// the result stays the same to the last bit. Interrupted if the job is stopped.
void integrate(Density& density, const Schedule& schedule, SimdLevel level,
               const TaskContext& context);

}  // namespace ancify::diffusion
