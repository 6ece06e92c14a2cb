// Lists the NVIDIA cards of this machine.
#include <cuda_runtime_api.h>

#include <string>

#include "cuda/cards.h"
#include "cuda/check.h"

namespace ancify::cuda {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::vector<Gpu> cards() {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0)
    throw DeviceError("there is no NVIDIA driver on this machine: install one, or use the CPU");
  if (driver / 1000 < CUDART_VERSION / 1000) {
    throw DeviceError("the NVIDIA driver (for CUDA " + version_text(driver) +
                      ") is older than this build's CUDA " + version_text(CUDART_VERSION) +
                      ": update the driver or install ancify again with an older toolkit");
  }
  int n = 0;
  const cudaError_t status = cudaGetDeviceCount(&n);
  if (status != cudaSuccess || n == 0) {
    cudaGetLastError();
    throw DeviceError(std::string("no GPU can be used: ") +
                      (status == cudaSuccess ? "none was found" : cudaGetErrorString(status)));
  }
  std::vector<Gpu> all;
  for (int card = 0; card < n; ++card) {
    cudaDeviceProp properties;
    ANCIFY_CUDA_CHECK(cudaGetDeviceProperties(&properties, card));
    all.push_back(
        {card, properties.name, properties.totalGlobalMem, properties.major, properties.minor});
  }
  return all;
}

}  // namespace ancify::cuda
