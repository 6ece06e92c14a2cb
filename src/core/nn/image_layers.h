// Layers of images, with gradients: convolution, pooling, upsampling, symmetric images. A row of a
// batch is an image: its channels one after the other, each `size` x `size` numbers, row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/nn/network.h"
#include "core/nn/random_numbers.h"

namespace ancify {

// Calls part(first image, end) on groups of images, which idle threads may take. Groups do not
// depend on threads.
constexpr std::int64_t kImageGroup = 4;

template <class Part>
void for_image_groups(const TaskContext& context, std::int64_t images, Part part) {
  context.share((images + kImageGroup - 1) / kImageGroup, [&](std::int64_t group) {
    const std::int64_t first = group * kImageGroup;
    part(first, std::min(first + kImageGroup, images));
  });
}

// The convolution of 3 x 3 with a margin of zeros: output channel o is
// b[o] + sum over c, u, v of W[o, c, u, v] x[c, i + u - 1, j + v - 1]. It is a matrix product, W
// with the patches of an image: 9 rows a channel, and a column a pixel. It goes in stripes of the
// image.
template <class T>
class Convolution : public Layer<T> {
 public:
  Convolution(std::int64_t in, std::int64_t out, std::int64_t size)
      : in_(in), out_(out), size_(size), pixels_(size * size), weight_(9 * in * out), bias_(out) {}

  void forward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& out) override {
    out.resize(in.rows, out_ * pixels_);
    for_image_groups(pass.context, in.rows, [&](std::int64_t first, std::int64_t end) {
      std::vector<T> patches;
      for (std::int64_t i = first; i < end; ++i) {
        for_stripes([&](const Stripe& stripe) {
          take_patches(stripe, in.row(i), patches);
          pass.multiply({out_, stripe.pixels, depth(), weight_.value.data(), depth(),
                         patches.data(), stripe.pixels, false, out.row(i) + stripe.first_pixel,
                         pixels_});
        });
        for (std::int64_t o = 0; o < out_; ++o) {
          T* const channel = out.row(i) + o * pixels_;
          const T bias = bias_.value[static_cast<std::size_t>(o)];
          for (std::int64_t p = 0; p < pixels_; ++p) channel[p] += bias;
        }
      }
    });
  }

  void backward(const Pass<T>& pass, const Batch<T>& in, const Batch<T>& /*out*/,
                const Batch<T>& out_gradient, Batch<T>* in_gradient) override {
    if (in_gradient != nullptr) {
      in_gradient->resize(in.rows, in_ * pixels_);
      std::fill(in_gradient->data.begin(), in_gradient->data.end(), T{0});
    }
    const std::size_t weights = weight_.value.size();
    const auto groups = static_cast<std::size_t>((in.rows + kImageGroup - 1) / kImageGroup);
    // Each group has sums of its own, which are added in their order.
    std::vector<T> sums(groups * weights);
    for_image_groups(pass.context, in.rows, [&](std::int64_t first, std::int64_t end) {
      T* const sum = sums.data() + static_cast<std::size_t>(first / kImageGroup) * weights;
      std::vector<T> patches;
      std::vector<T> one(weights);
      for (std::int64_t i = first; i < end; ++i) {
        for_stripes([&](const Stripe& stripe) {
          const T* const gradient = out_gradient.row(i) + stripe.first_pixel;
          take_patches(stripe, in.row(i), patches);
          pass.multiply({out_, depth(), stripe.pixels, gradient, pixels_, patches.data(),
                         stripe.pixels, true, one.data(), depth()});
          for (std::size_t k = 0; k < weights; ++k) sum[k] += one[k];
          if (in_gradient == nullptr) return;
          pass.multiply({depth(), stripe.pixels, out_, weight_.value.data(), depth(), gradient,
                         pixels_, false, patches.data(), stripe.pixels, true});
          add_patches(stripe, patches, in_gradient->row(i));
        });
      }
    });
    std::fill(weight_.gradient.begin(), weight_.gradient.end(), T{0});
    for (std::size_t group = 0; group < groups; ++group) {
      const T* const sum = sums.data() + group * weights;
      for (std::size_t k = 0; k < weights; ++k) weight_.gradient[k] += sum[k];
    }
    for (std::int64_t o = 0; o < out_; ++o) {
      double total = 0;
      for (std::int64_t i = 0; i < in.rows; ++i) {
        const T* const channel = out_gradient.row(i) + o * pixels_;
        for (std::int64_t p = 0; p < pixels_; ++p) total += static_cast<double>(channel[p]);
      }
      bias_.gradient[static_cast<std::size_t>(o)] = static_cast<T>(total);
    }
  }

  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

  // Weights within sqrt(6 / depth) of 0, all equally likely, which keep the size of what passes
  // through them and ReLU (He and others 2015, ICCV: 1026-1034); biases of 0.
  void initialise(std::uint64_t seed, std::uint64_t stream) {
    draw_uniform(weight_.value, std::sqrt(6 / static_cast<double>(depth())), seed, stream);
    std::fill(bias_.value.begin(), bias_.value.end(), T{0});
  }

 private:
  // Some rows of pixels, of which the patches are in a processor's cache.
  struct Stripe {
    std::int64_t first_row;
    std::int64_t end_row;
    std::int64_t first_pixel;
    std::int64_t pixels;
  };

  template <class Use>
  void for_stripes(Use use) const {
    constexpr std::int64_t numbers = 1 << 16;  // 256 kB of floats
    const std::int64_t rows = std::max<std::int64_t>(1, numbers / (depth() * size_));
    for (std::int64_t row = 0; row < size_; row += rows) {
      const std::int64_t end = std::min(row + rows, size_);
      use(Stripe{row, end, row * size_, (end - row) * size_});
    }
  }

  std::int64_t depth() const { return 9 * in_; }

  // Calls use(place in the image, place in the patches, numbers) on each row of each patch that is
  // within the image.
  template <class Use>
  void for_patch_rows(const Stripe& stripe, Use use) const {
    for (std::int64_t k = 0; k < depth(); ++k) {
      const std::int64_t down = k % 9 / 3 - 1;
      const std::int64_t right = k % 3 - 1;
      const std::int64_t from = std::max<std::int64_t>(0, -right);
      const std::int64_t to = size_ - std::max<std::int64_t>(0, right);
      const std::int64_t first = std::max(stripe.first_row, -down);
      const std::int64_t end = std::min(stripe.end_row, size_ - std::max<std::int64_t>(0, down));
      for (std::int64_t i = first; i < end; ++i) {
        use(k / 9 * pixels_ + (i + down) * size_ + from + right,
            k * stripe.pixels + (i - stripe.first_row) * size_ + from, to - from);
      }
    }
  }

  void take_patches(const Stripe& stripe, const T* image, std::vector<T>& patches) const {
    patches.assign(static_cast<std::size_t>(depth() * stripe.pixels), T{0});
    for_patch_rows(stripe, [&](std::int64_t at, std::int64_t to, std::int64_t n) {
      std::copy_n(image + at, n, patches.data() + to);
    });
  }

  // The adjoint of take_patches().
  void add_patches(const Stripe& stripe, const std::vector<T>& patches, T* image) const {
    for_patch_rows(stripe, [&](std::int64_t at, std::int64_t from, std::int64_t n) {
      for (std::int64_t j = 0; j < n; ++j)
        image[at + j] += patches[static_cast<std::size_t>(from + j)];
    });
  }

  std::int64_t in_;
  std::int64_t out_;
  std::int64_t size_;
  std::int64_t pixels_;
  Parameter<T> weight_;
  Parameter<T> bias_;
};

// The largest of each 2 x 2 pixels; `size`, that of the input, is even. The gradient goes to the
// first pixel that is the largest.
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

// Each pixel becomes 2 x 2 equal ones; `size` is that of the input.
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

// The nearest symmetric image with a zero diagonal, of one channel. It is a projection, so the
// gradient goes through it in the same way.
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
