// What computes: the CPU, or GPUs where the build and the machine have them.
#pragma once

#include <string>
#include <vector>

#include "core/device/simd.h"

namespace ancify {

enum class BackendKind { kCpu, kGpu };

struct Backend {
  BackendKind kind = BackendKind::kCpu;
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
  std::vector<int> devices;  // numbers of the GPUs, empty for the CPU

  // As the first line of a run's log says it.
  std::string description() const;
};

// The backend for "auto", "cpu" or "gpu". `devices`: the GPU wanted, empty for the first. `simd`:
// as choose_simd_level() takes it. DeviceError with the reason where a GPU is asked for by name and
// cannot be used.
Backend choose_backend(const std::string& wanted, const std::vector<int>& devices, int threads,
                       const std::string& simd = "auto");

}  // namespace ancify
