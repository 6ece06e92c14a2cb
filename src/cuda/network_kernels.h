// Opens the kernels of networks that learn on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/nn/device_network.h"

namespace ancify::cuda {

// Opens a card as the device of this number; DeviceError if that fails.
std::unique_ptr<NetworkKernels> open_network_kernels(int number, int card);

}  // namespace ancify::cuda
