// NVIDIA GPUs. Nothing here is touched before the first call.
#pragma once

namespace ancify::cuda {

// GPUs of this machine; DeviceError with the reason if there is none.
int count_devices();

}  // namespace ancify::cuda
