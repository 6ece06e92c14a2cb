// Stands in for cuBLAS when kernels run on the host: a library that is opened as the real one is,
// with plain loops. What it uses of the stand-in for CUDA is the program's.
#include <cstdint>
#include <vector>

#include "core/nn/half.h"
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
  for (const ancify::Half half :
       ancify::on_host::taken(static_cast<const ancify::Half*>(from), n)) {
    result.push_back(ancify::to_float(half));
  }
  return result;
}

void put_numbers(void* to, int type, const std::vector<float>& numbers) {
  if (type == kFloat) return ancify::on_host::put(static_cast<float*>(to), numbers);
  std::vector<ancify::Half> halves;
  for (const float number : numbers) halves.push_back(ancify::to_half(number));
  ancify::on_host::put(static_cast<ancify::Half*>(to), halves);
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

// Columns lie one after the other: c = a b + beta c, with either transposed.
int cublasGemmEx(void* handle, int a_transposed, int b_transposed, int rows, int columns, int depth,
                 const void* alpha, const void* a, int a_type, int a_stride, const void* b,
                 int b_type, int b_stride, const void* beta, void* c, int c_type, int c_stride,
                 int sums, int /*algorithm*/) {
  const bool a_is_transposed = a_transposed == kTransposed;
  const bool b_is_transposed = b_transposed == kTransposed;
  const float times_c = *static_cast<const float*>(beta);
  const bool known = (a_type == kFloat || a_type == kHalf) && b_type == a_type &&
                     (c_type == kFloat || c_type == kHalf) && sums == kSumsOfFloats &&
                     a_stride >= (a_is_transposed ? depth : rows) &&
                     b_stride >= (b_is_transposed ? columns : depth) && c_stride == rows &&
                     *static_cast<const float*>(alpha) == 1 && rows > 0 && columns > 0;
  if (!known) return kInvalidValue;
  ancify::on_host::begin(static_cast<Handle*>(handle)->stream, [=] {
    // The place of a number in its row and column, in a matrix that may be transposed
    const auto at = [](int i, int j, int stride, bool is_transposed) {
      const int column = is_transposed ? i : j;
      return static_cast<std::size_t>(column) * static_cast<std::size_t>(stride) +
             static_cast<std::size_t>(is_transposed ? j : i);
    };
    const std::vector<float> left =
        numbers(a, a_type, at(rows - 1, depth - 1, a_stride, a_is_transposed) + 1);
    const std::vector<float> right =
        numbers(b, b_type, at(depth - 1, columns - 1, b_stride, b_is_transposed) + 1);
    std::vector<float> products(at(0, columns, c_stride, false));
    if (times_c != 0) products = numbers(c, c_type, products.size());
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        float& product = products[at(i, j, c_stride, false)];
        float sum = 0;
        for (int k = 0; k < depth; ++k) {
          sum += left[at(i, k, a_stride, a_is_transposed)] *
                 right[at(k, j, b_stride, b_is_transposed)];
        }
        product = times_c * product + sum;
      }
    }
    put_numbers(c, c_type, products);
  });
  return kWell;
}

}  // extern "C"
