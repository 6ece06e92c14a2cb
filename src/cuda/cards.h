// The machine's NVIDIA GPUs. Nothing is touched before the first call.
#pragma once

#include <vector>

#include "core/device/backend.h"

namespace ancify::cuda {

// All of them, whatever code they can run; DeviceError with the reason if there is none.
std::vector<Gpu> cards();

}  // namespace ancify::cuda
