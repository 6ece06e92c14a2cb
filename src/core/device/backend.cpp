#include "core/device/backend.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/device.h"
#endif

namespace ancify {

namespace {

// How many GPUs can be used; DeviceError with the reason if none can.
int usable_gpus() {
#ifdef ANCIFY_HAVE_CUDA
  if (in_forked_child()) {
    throw DeviceError("a GPU cannot be used in a forked process: use a cluster of new R processes");
  }
  return cuda::count_devices();
#else
  throw DeviceError(
      "this build of ancify has no GPU code: install it again where nvcc is, or use the CPU");
#endif
}

std::vector<int> choose_devices(std::vector<int> devices) {
  const int n = usable_gpus();
  if (devices.empty()) devices.push_back(0);
  if (devices.size() > 1) throw DeviceError("this version uses one GPU at a time: name just one");
  for (const int device : devices) {
    if (device < 0 || device >= n) {
      throw DeviceError("there is no GPU number " + std::to_string(device) +
                        ": this machine's are 0 to " + std::to_string(n - 1));
    }
  }
  return devices;
}

}  // namespace

std::string Backend::description() const {
  const auto plural = [](std::size_t n, const std::string& word) {
    return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
  };
  if (kind == BackendKind::kCpu) {
    return std::string("CPU backend (") + simd_name(simd) + ", " +
           plural(static_cast<std::size_t>(threads), "thread") + ")";
  }
  std::string names;
  for (const int device : devices) {
    names += (names.empty() ? "cuda:" : ", cuda:") + std::to_string(device);
  }
  return "GPU backend (" + plural(devices.size(), "device") + ": " + names + ")";
}

Backend choose_backend(const std::string& wanted, const std::vector<int>& devices, int threads,
                       const std::string& simd) {
  Backend backend;
  backend.simd = choose_simd_level(simd);
  backend.threads = std::max(threads, 1);
  if (wanted == "gpu") {
    backend.kind = BackendKind::kGpu;
    backend.devices = choose_devices(devices);
  } else if (wanted != "cpu" && wanted != "auto") {
    throw InputError("backend must be \"auto\", \"cpu\" or \"gpu\", not \"" + wanted + "\"");
  }
  return backend;
}

}  // namespace ancify
