// Opens the kernels that count k-mers on an NVIDIA GPU.
#pragma once

#include <memory>

#include "core/kmers/device_counts.h"

namespace ancify::cuda {

// Opens a card as the device with this index; DeviceError on failure.
std::unique_ptr<KmerKernels> open_kmer_kernels(int number, int card);

}  // namespace ancify::cuda
