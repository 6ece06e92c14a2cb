// Checks CUDA calls: a failure becomes a DeviceError that names the source line.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/exec/errors.h"

#define ANCIFY_CUDA_CHECK(call) ::ancify::cuda::check((call), "", #call, __FILE__, __LINE__)
// Checks a call on the device of this name.
#define ANCIFY_CUDA_CHECK_ON(device, call) \
  ::ancify::cuda::check((call), (device) + ": ", #call, __FILE__, __LINE__)

namespace ancify::cuda {

inline void check(cudaError_t status, const std::string& where, const char* call, const char* file,
                  int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that no later call reports it again
  throw DeviceError(where + cudaGetErrorString(status) + " in " + call + " (" + file + ":" +
                    std::to_string(line) + ")");
}

}  // namespace ancify::cuda
