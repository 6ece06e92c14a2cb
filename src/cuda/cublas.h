// cuBLAS, opened on first use, so that the package loads without it. Only .cu files include this.
#pragma once

#include <cstdint>
#include <deque>

#include "core/nn/device_ops.h"
#include "core/nn/half.h"
#include "core/nn/products.h"
#include "cuda/cuda_device.h"

namespace ancify::cuda {

// The library on one device.
class Cublas {
 public:
  // DeviceError, with the way out, if the library is missing or fails.
  explicit Cublas(CudaDevice& device);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Starts a product in a stream. Sums and products of floats are in single precision (not TF32).
  // Parts of a long sum may be joined in the precision of its result.
  template <class Number, class Sum>
  void multiply(const ProductOp<Number, Sum>& op, int stream) {
    multiply({op.rows, op.columns, op.depth, op.stride, op.adds}, op.a, op.b, type_of(op.a), op.c,
             type_of(op.c), stream);
  }

  // Starts any product of floats.
  void multiply(const MatrixProduct& product, int stream);

 private:
  // The functions used, by their binary interface since CUDA 11. Enumerations are ints.
  using Create = int (*)(void** handle);
  using Destroy = int (*)(void* handle);
  using SetStream = int (*)(void* handle, cudaStream_t stream);
  using Multiply = int (*)(void* handle, int a_transposed, int b_transposed, int rows, int columns,
                           int depth, const void* alpha, const void* a, int a_type, int a_stride,
                           const void* b, int b_type, int b_stride, const void* beta, void* c,
                           int c_type, int c_stride, int sums, int algorithm);

  // A handle on the current card.
  class Handle {
   public:
    explicit Handle(Destroy destroy) : destroy_(destroy) {}
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    void*& get() { return handle_; }
    int& card() { return card_; }

   private:
    Destroy destroy_;
    void* handle_ = nullptr;
    int card_ = 0;
  };

  struct Sizes {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
    std::int64_t stride;
    bool adds;
  };

  // From library_types.h
  static int type_of(const float* /*numbers*/) { return 0; }
  static int type_of(const Half* /*numbers*/) { return 2; }

  void check(int status, const char* call) const;
  // DeviceError if the size exceeds the library's limit.
  int as_int(std::int64_t n) const;
  void multiply(const Sizes& sizes, const void* a, const void* b, int type, void* c, int type_of_c,
                int stream);

  CudaDevice& device_;
  Create create_ = nullptr;
  Destroy destroy_ = nullptr;
  SetStream set_stream_ = nullptr;
  Multiply multiply_ = nullptr;
  std::deque<Handle> handles_;  // one per stream, as each has its own workspace
};

}  // namespace ancify::cuda
