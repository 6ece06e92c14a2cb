// Opens the kernels of products with genotypes on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/genotypes/device_products.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<ProductKernels> open_product_kernels(int number, int card);

}  // namespace ancify::cuda
