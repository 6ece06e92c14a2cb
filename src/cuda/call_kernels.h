// Opens the kernels of calling on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/ancestry/calling/device_calling.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<CallKernels> open_call_kernels(int number, int card);

}  // namespace ancify::cuda
