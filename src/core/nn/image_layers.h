// Layers of images, with gradients: convolution, pooling, upsampling, symmetric images. A row of a
// batch is an image: consecutive channels, each `size` x `size` values, row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/nn/network.h"
#include "core/nn/padded_images.h"
#include "core/nn/random_numbers.h"

namespace ancify {

// The 3 x 3 convolution with zero padding: output channel o is
//   b[o] + sum over c, u, v of W[o, c, u, v] x[c, i + u - 1, j + v - 1],
// the product of W and the patches of x. Its gradients are such products too. With G the gradient
// with respect to the output, the gradient with respect to x[c, i, j] is
//   sum over o, u, v of W[o, c, 2 - u, 2 - v] G[o, i + u - 1, j + v - 1],
// and the gradient with respect to W[o, c, u, v] is
//   sum over i, j of x[c, i + u - 1, j + v - 1] G[o, i, j]
//   = sum over i, j of G[o, i + 1 - u, j + 1 - v] x[c, i, j].
template <class T>
class Convolution : public Layer<T> {
 public:
  Convolution(std::int64_t in, std::int64_t out, std::int64_t size)
      : in_(in), out_(out), size_(size), pixels_(size * size), weight_(9 * in * out), bias_(out) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    out.resize(in.rows, out_ * pixels_);
    for_image_groups(pass.context, size_, in.rows, [&](const ImageGroup& group) {
      convolve(pass, PaddedImages<T>(group, in, in_), weight_.value, bias_.value, out);
    });
  }

  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    const std::vector<T> rotated = rotated_weights();
    const std::vector<T> no_biases(static_cast<std::size_t>(in_));
    if (in_gradient != nullptr) in_gradient->resize(in.rows, in_ * pixels_);
    std::vector<Sums> sums(static_cast<std::size_t>(image_groups(size_, in.rows)));
    for_image_groups(pass.context, size_, in.rows, [&](const ImageGroup& group) {
      const PaddedImages<T> x(group, in, in_);
      const PaddedImages<T> gradient(group, out_gradient, out_);
      sums[static_cast<std::size_t>(group.number())] = sums_of(pass, x, gradient);
      if (in_gradient != nullptr) convolve(pass, gradient, rotated, no_biases, *in_gradient);
    });
    // Each group has its own sums, which are added in order.
    Sums all(sums_rows(), wide(), out_);
    for (const Sums& of_group : sums) all.add(of_group);
    take_gradients(all);
  }

  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

  // Weights uniform within sqrt(6 / depth) of 0, which preserves the variance through layer and
  // ReLU (He and others 2015, ICCV: 1026-1034); biases of 0.
  void initialise(std::uint64_t seed, std::uint64_t stream) {
    draw_uniform(weight_.value, std::sqrt(6 / static_cast<double>(9 * in_)), seed, stream);
    std::fill(bias_.value.begin(), bias_.value.end(), T{0});
  }

 private:
  // Gradients: one row of weights per row of patches, and one column per other channel.
  struct Sums {
    std::vector<T> weights;
    std::vector<T> biases;

    Sums() = default;
    Sums(std::int64_t rows, std::int64_t columns, std::int64_t out)
        : weights(static_cast<std::size_t>(rows * columns)),
          biases(static_cast<std::size_t>(out)) {}
    void add(const Sums& more) {
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += more.weights[i];
      for (std::size_t i = 0; i < biases.size(); ++i) biases[i] += more.biases[i];
    }
  };

  // Writes weights times patches, plus biases, to images with one channel per bias.
  static void convolve(const Pass<T>& pass, const PaddedImages<T>& x, const std::vector<T>& weights,
                       const std::vector<T>& biases, Batch<T>& to) {
    const std::int64_t columns = x.group().columns();
    const auto n = static_cast<std::int64_t>(biases.size());
    const Scratch<T> sums(n * columns);
    for (std::int64_t i = 0; i < n; ++i) {
      std::fill_n(sums.numbers() + i * columns, columns, biases[static_cast<std::size_t>(i)]);
    }
    const std::vector<std::int64_t> patches = x.patch_rows();
    const auto depth = static_cast<std::int64_t>(patches.size());
    pass.products.add_product({n, columns, depth, weights.data(), rows_of(n, depth).data(),
                               x.numbers(), patches.data(), sums.numbers(), columns});
    x.group().write(sums.numbers(), n, to);
  }

  // Patches are made on the side with fewer channels. The channels of the other side fill vectors.
  bool patches_of_in() const { return in_ <= out_; }
  std::int64_t sums_rows() const { return 9 * std::min(in_, out_); }
  std::int64_t wide() const { return filled_up(std::max(in_, out_)); }

  Sums sums_of(const Pass<T>& pass, const PaddedImages<T>& x,
               const PaddedImages<T>& gradient) const {
    const PaddedImages<T>& narrow = patches_of_in() ? x : gradient;
    const Scratch<T> transposed = (patches_of_in() ? gradient : x).transposed(wide());
    const std::int64_t columns = x.group().columns();
    Sums sums(sums_rows(), wide(), out_);
    pass.products.add_product({sums_rows(), wide(), columns, narrow.numbers(),
                               narrow.patch_rows().data(), transposed.numbers(),
                               rows_of(columns, wide()).data(), sums.weights.data(), wide()});
    for (std::int64_t o = 0; o < out_; ++o) {
      sums.biases[static_cast<std::size_t>(o)] = gradient.sum(o);
    }
    return sums;
  }

  // Calls use(weight, output channel, input channel, neighbour) on all weights in order.
  template <class Use>
  void for_weights(Use use) const {
    std::size_t weight = 0;
    for (std::int64_t o = 0; o < out_; ++o) {
      for (std::int64_t c = 0; c < in_; ++c) {
        for (std::int64_t k = 0; k < 9; ++k) use(weight++, o, c, k);
      }
    }
  }

  void take_gradients(const Sums& sums) {
    for_weights([&](std::size_t weight, std::int64_t o, std::int64_t c, std::int64_t k) {
      const std::int64_t at =
          patches_of_in() ? (9 * c + k) * wide() + o : (9 * o + 8 - k) * wide() + c;
      weight_.gradient[weight] = sums.weights[static_cast<std::size_t>(at)];
    });
    bias_.gradient = sums.biases;
  }

  // The weights for the gradient with respect to the input, one row per input channel: kernels
  // rotated by 180 degrees, with input and output channels exchanged.
  std::vector<T> rotated_weights() const {
    std::vector<T> rotated(weight_.value.size());
    for_weights([&](std::size_t weight, std::int64_t o, std::int64_t c, std::int64_t k) {
      rotated[static_cast<std::size_t>((c * out_ + o) * 9 + 8 - k)] = weight_.value[weight];
    });
    return rotated;
  }

  std::int64_t in_;
  std::int64_t out_;
  std::int64_t size_;
  std::int64_t pixels_;
  Parameter<T> weight_;
  Parameter<T> bias_;
};

// The maximum of each window of 2 x 2 pixels; the input's `size` is even. The gradient goes to the
// first of the largest pixels.
template <class T>
class MaxPool : public Layer<T> {
 public:
  MaxPool(std::int64_t channels, std::int64_t size) : channels_(channels), size_(size) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    pass.resize(out, in.rows, in.width / 4);
    pass.run(MaxPoolOp<NumberOf<T>>{windows(in), in.data.data(), out.data.data()});
  }
  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient == nullptr) return;
    pass.resize(*in_gradient, in.rows, in.width);
    pass.run(MaxPoolSlopeOp<NumberOf<T>>{windows(in), in.data.data(), out_gradient.data.data(),
                                         in_gradient->data.data()});
  }

 private:
  Grid windows(const Batch<T>& in) const { return {in.rows * channels_ * size_ / 2, size_ / 2}; }

  std::int64_t channels_;
  std::int64_t size_;
};

// Repeats each pixel 2 x 2 times; `size` is the input's.
template <class T>
class Upsample : public Layer<T> {
 public:
  Upsample(std::int64_t channels, std::int64_t size) : channels_(channels), size_(size) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    pass.resize(out, in.rows, 4 * in.width);
    pass.run(UpsampleOp<NumberOf<T>>{pixels(in), in.data.data(), out.data.data()});
  }
  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient == nullptr) return;
    pass.resize(*in_gradient, in.rows, in.width);
    pass.run(UpsampleSlopeOp<NumberOf<T>>{pixels(in), out_gradient.data.data(),
                                          in_gradient->data.data()});
  }

 private:
  Grid pixels(const Batch<T>& in) const { return {in.rows * channels_ * size_, size_}; }

  std::int64_t channels_;
  std::int64_t size_;
};

// The nearest symmetric image with a zero diagonal, of one channel. It is a symmetric projection,
// so the gradient passes through the same map.
template <class T>
class SymmetricImage : public Layer<T> {
 public:
  explicit SymmetricImage(std::int64_t size) : size_(size) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    project(pass, in, out);
  }
  void backward(const Pass<T>& pass, const Batch<T>& /*in*/, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient != nullptr) project(pass, out_gradient, *in_gradient);
  }

 private:
  void project(const Pass<T>& pass, const Batch<T>& from, Batch<T>& to) const {
    pass.resize(to, from.rows, from.width);
    pass.run(
        SymmetricOp<NumberOf<T>>{{from.rows * size_, size_}, from.data.data(), to.data.data()});
  }

  std::int64_t size_;
};

// y = log(1 + e^x).
template <class T>
class Softplus : public Layer<T> {
 public:
  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    pass.resize(out, in.rows, in.width);
    pass.run(SoftplusOp<NumberOf<T>>{{in.rows, in.width}, in.data.data(), out.data.data()});
  }
  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient == nullptr) return;
    pass.resize(*in_gradient, in.rows, in.width);
    pass.run(SoftplusSlopeOp<NumberOf<T>>{
        {in.rows, in.width}, in.data.data(), out_gradient.data.data(), in_gradient->data.data()});
  }
};

}  // namespace ancify
