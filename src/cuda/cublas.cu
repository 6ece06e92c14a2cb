// Opens cuBLAS and calls its products. It stores matrices by columns, so ours are their transposes:
// c' = b a'.
#include <dlfcn.h>

#include <limits>
#include <string>

#include "cuda/cublas.h"

namespace ancify::cuda {

namespace {

// From cublas_api.h
constexpr int kNotTransposed = 0;
constexpr int kTransposed = 1;
constexpr int kSumsOfFloats = 68;
constexpr int kAnyAlgorithm = -1;

void* open_library(const std::string& device) {
  const std::string major = std::to_string(CUDART_VERSION / 1000);
  const std::string name = "libcublas.so." + major;
  for (const std::string& path :
       {name, "/usr/local/cuda/lib64/" + name, "/usr/local/cuda-" + major + "/lib64/" + name}) {
    // It stays open, as it keeps state of the driver.
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

int Cublas::as_int(std::int64_t n) const {
  if (n > std::numeric_limits<int>::max()) {
    throw DeviceError(device_.name() + ": a matrix of " + std::to_string(n) +
                      " rows is too large for cuBLAS: use the CPU");
  }
  return static_cast<int>(n);
}

void Cublas::multiply(const Sizes& sizes, const void* a, const void* b, int type, void* c,
                      int type_of_c, int stream) {
  const int rows = as_int(sizes.rows);
  const int columns = as_int(sizes.columns);
  const int depth = as_int(sizes.depth);
  const int stride = as_int(sizes.stride);
  const float one = 1;
  const float times_c = sizes.adds ? 1 : 0;
  device_.call("cublasGemmEx", stream, [&](cudaStream_t) {
    check(multiply_(handles_.at(static_cast<std::size_t>(stream)).get(), kTransposed,
                    kNotTransposed, columns, rows, depth, &one, b, type, depth, a, type, stride,
                    &times_c, c, type_of_c, columns, kSumsOfFloats, kAnyAlgorithm),
          "cublasGemmEx");
    return cudaSuccess;
  });
}

void Cublas::multiply(const MatrixProduct& product, int stream) {
  const auto way = [](bool transposed) { return transposed ? kTransposed : kNotTransposed; };
  const float one = 1;
  const float zero = 0;
  device_.call("cublasGemmEx", stream, [&](cudaStream_t) {
    check(multiply_(handles_.at(static_cast<std::size_t>(stream)).get(), way(product.b_transposed),
                    way(product.a_transposed), as_int(product.columns), as_int(product.rows),
                    as_int(product.depth), &one, product.b, type_of(product.a),
                    as_int(product.b_stride), product.a, type_of(product.a),
                    as_int(product.a_stride), &zero, product.c, type_of(product.a),
                    as_int(product.c_stride), kSumsOfFloats, kAnyAlgorithm),
          "cublasGemmEx");
    return cudaSuccess;
  });
}

}  // namespace ancify::cuda
