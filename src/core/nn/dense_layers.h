// Layers of classifiers, with gradients: dense, batch norm, ReLU, dropout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/philox.h"
#include "core/nn/network.h"
#include "core/nn/random_numbers.h"

namespace ancify {

// y = x W' + b, with W out x in. For G = dL/dy, the gradient of the loss L: dW = G' x, db = column
// sums of G, dx = G W.
template <class T>
class Dense : public Layer<T> {
 public:
  Dense(std::int64_t in, std::int64_t out) : in_(in), out_(out), weight_(in * out), bias_(out) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    out.resize(in.rows, out_);
    multiply_shared<T>(pass, {in.rows, out_, in_, in.data.data(), in_, weight_.value.data(), in_,
                              true, out.data.data(), out_});
    for (std::int64_t i = 0; i < out.rows; ++i) {
      T* const row = out.row(i);
      for (std::int64_t j = 0; j < out_; ++j) row[j] += bias_.value[static_cast<std::size_t>(j)];
    }
  }

  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    multiply_shared<T>(pass, {out_, in_, in.rows, out_gradient.data.data(), out_, in.data.data(),
                              in_, false, weight_.gradient.data(), in_, true});
    std::fill(bias_.gradient.begin(), bias_.gradient.end(), T{0});
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const row = out_gradient.row(i);
      for (std::int64_t j = 0; j < out_; ++j) bias_.gradient[static_cast<std::size_t>(j)] += row[j];
    }
    if (in_gradient == nullptr) return;
    in_gradient->resize(in.rows, in_);
    multiply_shared<T>(pass, {in.rows, in_, out_, out_gradient.data.data(), out_,
                              weight_.value.data(), in_, false, in_gradient->data.data(), in_});
  }

  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

  // Weights uniform within sqrt(6 / (in + out)) of 0, and biases of 0 (Glorot and Bengio 2010,
  // AISTATS 9: 249-256).
  void initialise(std::uint64_t seed, std::uint64_t stream) {
    const double limit = std::sqrt(6 / static_cast<double>(in_ + out_));
    draw_uniform(weight_.value, limit, seed, stream);
    std::fill(bias_.value.begin(), bias_.value.end(), T{0});
  }

 private:
  std::int64_t in_;
  std::int64_t out_;
  Parameter<T> weight_;
  Parameter<T> bias_;
};

// z = (x - mean) / sqrt(variance + 1e-5), y = z gain + bias, column by column (Ioffe and Szegedy
// 2015, ICML 37: 448-456). Training uses the batch's mean and variance, inference running ones, to
// which each batch contributes a tenth. Running variances are unbiased. A training batch needs at
// least two rows.
template <class T>
class BatchNorm : public Layer<T> {
 public:
  explicit BatchNorm(std::int64_t width)
      : width_(width),
        gain_(width, 1),
        bias_(width),
        running_mean_(static_cast<std::size_t>(width)),
        running_variance_(static_cast<std::size_t>(width), 1) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    out.resize(in.rows, width_);
    mean_ = running_mean_;
    scale_ = running_variance_;
    if (pass.training) measure(in);
    for (T& scale : scale_) scale = 1 / std::sqrt(scale + static_cast<T>(1e-5));
    normal_.resize(in.rows, width_);
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const from = in.row(i);
      T* const normal = normal_.row(i);
      T* const to = out.row(i);
      for (std::size_t j = 0; j < mean_.size(); ++j) {
        normal[j] = (from[j] - mean_[j]) * scale_[j];
        to[j] = normal[j] * gain_.value[j] + bias_.value[j];
      }
    }
  }

  // The gradient of a training pass: with G = dL/dy, dx = scale gain (G - mean(G) - z mean(G z)).
  void backward(const Pass<T>& /*pass*/, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    std::fill(gain_.gradient.begin(), gain_.gradient.end(), T{0});
    std::fill(bias_.gradient.begin(), bias_.gradient.end(), T{0});
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const gradient = out_gradient.row(i);
      const T* const normal = normal_.row(i);
      for (std::size_t j = 0; j < mean_.size(); ++j) {
        bias_.gradient[j] += gradient[j];
        gain_.gradient[j] += gradient[j] * normal[j];
      }
    }
    if (in_gradient == nullptr) return;
    in_gradient->resize(in.rows, width_);
    const T share = T{1} / static_cast<T>(in.rows);
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const gradient = out_gradient.row(i);
      const T* const normal = normal_.row(i);
      T* const to = in_gradient->row(i);
      for (std::size_t j = 0; j < mean_.size(); ++j) {
        to[j] = scale_[j] * gain_.value[j] *
                (gradient[j] - share * (bias_.gradient[j] + normal[j] * gain_.gradient[j]));
      }
    }
  }

  std::vector<Parameter<T>*> parameters() override { return {&gain_, &bias_}; }
  std::vector<std::vector<T>*> state() override {
    return {&gain_.value, &bias_.value, &running_mean_, &running_variance_};
  }

 private:
  // Sets mean_ and scale_ from the batch's mean and variance, and updates the running values.
  void measure(const Batch<T>& in) {
    const T share = T{1} / static_cast<T>(in.rows);
    std::fill(mean_.begin(), mean_.end(), T{0});
    std::fill(scale_.begin(), scale_.end(), T{0});
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const row = in.row(i);
      for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] += row[j];
    }
    for (T& mean : mean_) mean *= share;
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const T* const row = in.row(i);
      for (std::size_t j = 0; j < mean_.size(); ++j) {
        scale_[j] += (row[j] - mean_[j]) * (row[j] - mean_[j]);
      }
    }
    const T unbiased = T{1} / static_cast<T>(in.rows - 1);
    const T kept = static_cast<T>(0.9);
    const T added = static_cast<T>(0.1);
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      running_mean_[j] = kept * running_mean_[j] + added * mean_[j];
      running_variance_[j] = kept * running_variance_[j] + added * unbiased * scale_[j];
      scale_[j] *= share;
    }
  }

  std::int64_t width_;
  Parameter<T> gain_;
  Parameter<T> bias_;
  std::vector<T> running_mean_;
  std::vector<T> running_variance_;
  // Values of the last batch
  std::vector<T> mean_;
  std::vector<T> scale_;
  Batch<T> normal_;
};

// y = max(x, 0). NaN is preserved.
template <class T>
class Relu : public Layer<T> {
 public:
  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    pass.resize(out, in.rows, in.width);
    pass.run(ReluOp<NumberOf<T>>{{in.rows, in.width}, in.data.data(), out.data.data()});
  }
  void backward(const Pass<T>& pass, const Batch<T>& /*in*/, const Batch<T>& out,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient == nullptr) return;
    pass.resize(*in_gradient, out.rows, out.width);
    pass.run(ReluSlopeOp<NumberOf<T>>{{out.rows, out.width},
                                      out.data.data(),
                                      out_gradient.data.data(),
                                      in_gradient->data.data()});
  }
};

// In training each value is 0 with probability `share`, otherwise divided by 1 - share. Four values
// share a block of Philox, whose counter is their position in the batch and the pass's step.
template <class T>
class Dropout : public Layer<T> {
 public:
  explicit Dropout(double share)
      : limit_(static_cast<std::uint32_t>(share * 0x1p32)),
        scale_(static_cast<T>(1 / (1 - share))) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    out = in;
    if (!pass.training) return;
    factors_.resize(in.data.size());
    for (std::size_t i = 0; i < in.data.size(); i += 4) {
      const PhiloxBlock bits = philox(pass.seed, pass.step, i / 4);
      for (std::size_t j = i; j < std::min(i + 4, in.data.size()); ++j) {
        factors_[j] = bits[j - i] < limit_ ? 0 : scale_;
        out.data[j] *= factors_[j];
      }
    }
  }
  // Gradient of a training pass
  void backward(const Pass<T>& /*pass*/, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient == nullptr) return;
    in_gradient->resize(in.rows, in.width);
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      in_gradient->data[i] = factors_[i] * out_gradient.data[i];
    }
  }

 private:
  std::uint32_t limit_;
  T scale_;
  std::vector<T> factors_;
};

}  // namespace ancify
