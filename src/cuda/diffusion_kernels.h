// Opens the kernels of diffusion on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/diffusion/device_spectra.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<diffusion::DiffusionKernels> open_diffusion_kernels(int number, int card);

}  // namespace ancify::cuda
