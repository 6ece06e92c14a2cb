// A density through time: drift, migration, selection and new mutations.
#pragma once

#include "core/device/simd.h"
#include "core/diffusion/density.h"
#include "core/diffusion/schedule.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// By the schedule's steps, each implicit along one axis after the other (Gutenkunst and others
// 2009). Idle threads of the context take lines, which changes no bit of the result.
void integrate(Density& density, const Schedule& schedule, SimdLevel level,
               const TaskContext& context);

}  // namespace ancify::diffusion
