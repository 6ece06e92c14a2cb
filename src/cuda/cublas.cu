// Opens cuBLAS, and multiplies by it. Its matrices have their columns one after the other, so that
// ours are transposed there: c' = b a'.
#include <dlfcn.h>

#include <limits>
#include <string>

#include "cuda/cublas.h"

namespace ancify::cuda {

namespace {

// Of cublas_api.h and library_types.h
constexpr int kNotTransposed = 0;
constexpr int kTransposed = 1;
constexpr int kFloat = 0;
constexpr int kHalf = 2;
constexpr int kSumsOfFloats = 68;
constexpr int kAnyAlgorithm = -1;

void* open_library(const std::string& device) {
  const std::string major = std::to_string(CUDART_VERSION / 1000);
  const std::string name = "libcublas.so." + major;
  for (const std::string& path :
       {name, "/usr/local/cuda/lib64/" + name, "/usr/local/cuda-" + major + "/lib64/" + name}) {
    // It stays open: it keeps state of the driver.
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw DeviceError(device + ": cuBLAS (" + name + ") cannot be opened. Install it as a part of " +
                    "CUDA " + major + ", add its folder to LD_LIBRARY_PATH, or use the CPU");
}

template <class Function>
void find(void* library, const char* name, const std::string& device, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(device + ": cuBLAS lacks " + name + ": use the CPU");
}

}  // namespace

Cublas::Cublas(CudaDevice& device) : device_(device) {
  const std::string name = device.name();
  void* const library = open_library(name);
  find(library, "cublasCreate_v2", name, create_);
  find(library, "cublasDestroy_v2", name, destroy_);
  find(library, "cublasSetStream_v2", name, set_stream_);
  find(library, "cublasGemmEx", name, multiply_);
  for (int stream = 0; stream < Device::kStreams; ++stream) {
    Handle& handle = handles_.emplace_back(destroy_);
    device.call("cublasCreate", stream, [&](cudaStream_t on) {
      check(create_(&handle.get()), "cublasCreate");
      check(set_stream_(handle.get(), on), "cublasSetStream");
      return cudaGetDevice(&handle.card());
    });
  }
}

Cublas::Handle::~Handle() {
  if (handle_ == nullptr || in_forked_child()) return;
  cudaSetDevice(card_);
  destroy_(handle_);
  cudaGetLastError();  // so that no later call reports it again
}

void Cublas::check(int status, const char* call) const {
  if (status == 0) return;
  throw DeviceError(device_.name() + ": cuBLAS has failed in " + call + " with status " +
                    std::to_string(status));
}

void Cublas::multiply(const Sizes& sizes, const float* a, const float* b, float* c, int stream) {
  multiply(sizes, a, b, kFloat, c, stream);
}

void Cublas::multiply(const Sizes& sizes, const Half* a, const Half* b, float* c, int stream) {
  multiply(sizes, a, b, kHalf, c, stream);
}

void Cublas::multiply(const Sizes& sizes, const void* a, const void* b, int type, float* c,
                      int stream) {
  const auto as_int = [&](std::int64_t n) {
    if (n > std::numeric_limits<int>::max()) {
      throw DeviceError(device_.name() + ": a matrix of " + std::to_string(n) +
                        " rows is too large for cuBLAS: use the CPU");
    }
    return static_cast<int>(n);
  };
  const int rows = as_int(sizes.rows);
  const int columns = as_int(sizes.columns);
  const int depth = as_int(sizes.depth);
  const float one = 1;
  const float zero = 0;
  device_.call("cublasGemmEx", stream, [&](cudaStream_t) {
    check(multiply_(handles_.at(static_cast<std::size_t>(stream)).get(), kTransposed,
                    kNotTransposed, columns, rows, depth, &one, b, type, depth, a, type, depth,
                    &zero, c, kFloat, columns, kSumsOfFloats, kAnyAlgorithm),
          "cublasGemmEx");
    return cudaSuccess;
  });
}

}  // namespace ancify::cuda
