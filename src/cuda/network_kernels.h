// Opens the kernels that train networks on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/nn/device_network.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<NetworkKernels> open_network_kernels(int number, int card);

}  // namespace ancify::cuda
