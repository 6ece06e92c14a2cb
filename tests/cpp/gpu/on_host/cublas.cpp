// Stands in for cuBLAS when kernels run on the host: a library that is opened as the real one is,
// with plain loops. What it uses of the stand-in for CUDA is the program's.
#include <cstdint>
#include <vector>

#include "core/models/tensors.h"
#include "cub/on_host.h"

namespace {

constexpr int kTransposed = 1;
constexpr int kFloat = 0;
constexpr int kHalf = 2;
constexpr int kSumsOfFloats = 68;
constexpr int kWell = 0;
constexpr int kInvalidValue = 7;

struct Handle {
  cudaStream_t stream = nullptr;
};

std::vector<float> numbers(const void* from, int type, std::size_t n) {
  if (type == kFloat) return ancify::on_host::taken(static_cast<const float*>(from), n);
  std::vector<float> result;
  for (const auto bits : ancify::on_host::taken(static_cast<const std::uint16_t*>(from), n)) {
    result.push_back(ancify::from_half(bits));
  }
  return result;
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  *handle = new Handle;
  return kWell;
}

int cublasDestroy_v2(void* handle) {
  delete static_cast<Handle*>(handle);
  return kWell;
}

int cublasSetStream_v2(void* handle, cudaStream_t stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return kWell;
}

// Columns lie one after the other: c = a' b. No other kind is used.
int cublasGemmEx(void* handle, int a_transposed, int b_transposed, int rows, int columns, int depth,
                 const void* alpha, const void* a, int a_type, int a_stride, const void* b,
                 int b_type, int b_stride, const void* beta, void* c, int c_type, int c_stride,
                 int sums, int /*algorithm*/) {
  const bool known = a_transposed == kTransposed && b_transposed != kTransposed &&
                     (a_type == kFloat || a_type == kHalf) && b_type == a_type &&
                     c_type == kFloat && sums == kSumsOfFloats && a_stride >= depth &&
                     b_stride >= depth && c_stride == rows &&
                     *static_cast<const float*>(alpha) == 1 &&
                     *static_cast<const float*>(beta) == 0 && rows > 0 && columns > 0;
  if (!known) return kInvalidValue;
  ancify::on_host::begin(static_cast<Handle*>(handle)->stream, [=] {
    const auto at = [](int i, int j, int stride) {
      return static_cast<std::size_t>(i) * static_cast<std::size_t>(stride) +
             static_cast<std::size_t>(j);
    };
    const std::vector<float> left = numbers(a, a_type, at(rows - 1, depth, a_stride));
    const std::vector<float> right = numbers(b, b_type, at(columns - 1, depth, b_stride));
    std::vector<float> products(at(columns, 0, c_stride));
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        float sum = 0;
        for (int k = 0; k < depth; ++k) sum += left[at(i, k, a_stride)] * right[at(j, k, b_stride)];
        products[at(j, i, c_stride)] = sum;
      }
    }
    ancify::on_host::put(static_cast<float*>(c), products);
  });
  return kWell;
}

}  // extern "C"
