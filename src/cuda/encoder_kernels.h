// Opens the kernels of encoders on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/models/device_encoder.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<EncoderKernels> open_encoder_kernels(int number, int card);

}  // namespace ancify::cuda
