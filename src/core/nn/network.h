// Trainable networks: consecutive layers with gradients. Values are T: floats, or doubles in tests
// that compare gradients with finite differences; or the types of device_network.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/exec/threads.h"
#include "core/nn/network_ops.h"
#include "core/nn/products.h"

namespace ancify {

// The value type of a network, if T carries more information.
template <class T>
struct PlainNumber {
  using Type = T;
};
template <class T>
using NumberOf = typename PlainNumber<T>::Type;

// The data passed between layers: one row per example.
template <class T>
struct Batch {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::vector<T> data;

  void resize(std::int64_t new_rows, std::int64_t new_width) {
    rows = new_rows;
    width = new_width;
    data.resize(static_cast<std::size_t>(rows * width));
  }
  T* row(std::int64_t i) { return data.data() + i * width; }
  const T* row(std::int64_t i) const { return data.data() + i * width; }
};

// Trainable parameters, and the gradient of the loss with respect to them.
template <class T>
struct Parameter {
  explicit Parameter(std::int64_t n, T start = 0)
      : value(static_cast<std::size_t>(n), start), gradient(static_cast<std::size_t>(n)) {}
  std::vector<T> value;
  std::vector<T> gradient;
};

// The settings of a batch's pass through a network.
template <class T>
struct Pass {
  ProductsOf<T> products;
  const TaskContext& context;
  bool training = false;
  // These two determine dropout's random numbers.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;

  void resize(Batch<T>& batch, std::int64_t rows, std::int64_t width) const {
    batch.resize(rows, width);
  }
  // Runs an operation in pieces, which idle threads may take.
  template <class Op>
  void run(const Op& op) const {
    constexpr std::int64_t numbers = 1 << 15;
    const std::int64_t rows = std::max<std::int64_t>(1, numbers / op.columns);
    context.share((op.rows + rows - 1) / rows, [&](std::int64_t piece) {
      do_rows(op, piece * rows, std::min((piece + 1) * rows, op.rows));
    });
  }
};

// A product in blocks of columns, which idle threads may take. Blocks do not depend on threads.
template <class T>
void multiply_shared(const Pass<T>& pass, const ProductOf<T>& product) {
  constexpr std::int64_t kColumns = 128;
  const std::int64_t blocks = (product.columns + kColumns - 1) / kColumns;
  if (blocks <= 1) {
    pass.products.multiply(product);
    return;
  }
  pass.context.share(blocks, [&](std::int64_t block) {
    const std::int64_t from = block * kColumns;
    ProductOf<T> part = product;
    part.columns = std::min(kColumns, product.columns - from);
    part.b += product.b_transposed ? from * product.b_stride : from;
    part.c += from;
    pass.products.multiply(part);
  });
}

template <class T>
class Layer {
 public:
  using Numbers = decltype(Parameter<T>::value);

  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  virtual void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) = 0;
  // After forward() of the same batch, with the gradient of the loss with respect to `out`: sets
  // the parameters' gradients, and the gradient with respect to `in` unless `in_gradient` is null.
  virtual void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& out,
                        const Batch<T>& out_gradient, Batch<T>* in_gradient) = 0;
  virtual std::vector<Parameter<T>*> parameters() { return {}; }
  // All values stored with a network: parameters and running statistics.
  virtual std::vector<Numbers*> state() {
    std::vector<Numbers*> result;
    for (Parameter<T>* parameter : parameters()) result.push_back(&parameter->value);
    return result;
  }
};

template <class T>
class Network {
 public:
  void add(std::unique_ptr<Layer<T>> layer) {
    layers_.push_back(std::move(layer));
    outputs_.emplace_back();
  }

  const Batch<T>& forward(const Pass<T>& pass, const Batch<T>& in) {
    const Batch<T>* from = &in;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i]->forward(pass, *from, outputs_[i]);
      from = &outputs_[i];
    }
    return *from;
  }

  // After forward(pass, in). `gradient`: the loss gradient with respect to the output; it is
  // overwritten. The gradient with respect to `in` is written to `in_gradient`, unless that is
  // null.
  void backward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& gradient,
                Batch<T>* in_gradient = nullptr) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      Batch<T>* const below = i > 0 ? &gradient_ : in_gradient;
      layers_[i]->backward(pass, i > 0 ? outputs_[i - 1] : in, outputs_[i], gradient, below);
      if (i > 0) std::swap(gradient, gradient_);
    }
  }

  std::vector<Parameter<T>*> parameters() {
    std::vector<Parameter<T>*> result;
    for (auto& layer : layers_) {
      for (Parameter<T>* parameter : layer->parameters()) result.push_back(parameter);
    }
    return result;
  }
  std::vector<typename Layer<T>::Numbers*> state() {
    std::vector<typename Layer<T>::Numbers*> result;
    for (auto& layer : layers_) {
      for (auto* numbers : layer->state()) result.push_back(numbers);
    }
    return result;
  }

 private:
  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<Batch<T>> outputs_;
  Batch<T> gradient_;
};

}  // namespace ancify
