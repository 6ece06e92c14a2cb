// Lists the machine's NVIDIA GPUs. No GPU is touched before the first call.
#pragma once

#include <vector>

#include "core/device/backend.h"

namespace ancify::cuda {

// All GPUs, whatever code they can run. DeviceError, with the reason, if none exists.
std::vector<Gpu> cards();

}  // namespace ancify::cuda
