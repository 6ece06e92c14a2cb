// Evolves a density through time by drift, migration, selection and new mutations.
#pragma once

#include "core/device/simd.h"
#include "core/diffusion/density.h"
#include "core/diffusion/schedule.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// Replaces the density by that after all steps of the schedule. A step is implicit along one axis
// after the other (Gutenkunst and others 2009). Idle threads of the context take parts of a sweep,
// without changing any bit of the result. Interrupted if the job is stopped.
void integrate(Density& density, const Schedule& schedule, SimdLevel level,
               const TaskContext& context);

}  // namespace ancify::diffusion
