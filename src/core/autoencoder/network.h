// The autoencoder of distance maps. Encoder: four blocks of convolution, ReLU and pooling; a dense
// layer to the code. Decoder: a dense layer; four blocks of upsampling, convolution and ReLU. A
// convolution reduces this to one channel z, and distances are softplus(z), symmetric with a zero
// diagonal.
//
// Correcting networks have one more convolution and ReLU before, applied to the decoder's image and
// the input d. Their distances are softplus(z + softplus^-1(d)), which is d itself at z = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/autoencoder/forms.h"
#include "core/nn/dense_layers.h"
#include "core/nn/image_layers.h"
#include "core/nn/network.h"

namespace ancify::autoencoder {

template <class T>
class AutoencoderNetwork {
 public:
  explicit AutoencoderNetwork(const Form& form)
      : pixels_(form.size() * form.size()),
        channels_(form.of_task().channels),
        corrects_(form.of_task().corrects) {
    std::int64_t size = form.size();
    std::int64_t width = channels_;  // channels of a layer's input
    for (const std::int64_t out : Form::kEncoder) {
      add_convolution(encoder_, width, out, size);
      encoder_.add(std::make_unique<Relu<T>>());
      encoder_.add(std::make_unique<MaxPool<T>>(out, size));
      width = out;
      size /= 2;
    }
    add_dense(encoder_, form.inner(), form.code);
    add_dense(decoder_, form.code, form.inner());
    for (const std::int64_t out : Form::kDecoder) {
      decoder_.add(std::make_unique<Upsample<T>>(width, size));
      size *= 2;
      add_convolution(decoder_, width, out, size);
      decoder_.add(std::make_unique<Relu<T>>());
      width = out;
    }
    if (corrects_) {
      add_convolution(correction_, width + channels_, Form::kCorrecting, size);
      correction_.add(std::make_unique<Relu<T>>());
      width = Form::kCorrecting;
    }
    auto last = std::make_unique<Convolution<T>>(width, 1, size);
    last_ = last.get();
    correction_.add(std::move(last));
    output_.add(std::make_unique<Softplus<T>>());
    output_.add(std::make_unique<SymmetricImage<T>>(size));
  }

  // The last convolution starts at zero, so that a correcting network initially changes nothing.
  // Other layers draw weights from streams from `stream` on.
  void initialise(std::uint64_t seed, std::uint64_t stream) {
    for (Convolution<T>* layer : convolutions_) layer->initialise(seed, stream++);
    for (Dense<T>* layer : dense_) layer->initialise(seed, stream++);
    for (Parameter<T>* parameter : last_->parameters()) {
      std::fill(parameter->value.begin(), parameter->value.end(), T{0});
    }
  }

  const Batch<T>& encode(const Pass<T>& pass, const Batch<T>& in) {
    return encoder_.forward(pass, in);
  }

  const Batch<T>& forward(const Pass<T>& pass, const Batch<T>& in) {
    code_ = &encode(pass, in);
    image_ = &decoder_.forward(pass, *code_);
    if (corrects_) image_ = &join(pass, *image_, in);
    raw_ = &correction_.forward(pass, *image_);
    if (corrects_) raw_ = &add_start(pass, *raw_, in);
    return output_.forward(pass, *raw_);
  }

  // After forward() of the same batch. `gradient`: the loss gradient with respect to the output; it
  // is overwritten.
  void backward(const Pass<T>& pass, const Batch<T>& in, Batch<T>& gradient) {
    output_.backward(pass, *raw_, gradient, &below_);
    correction_.backward(pass, *image_, below_, &gradient);
    if (corrects_) {
      // The part for the decoder's image; the input has no gradient.
      const std::int64_t width = gradient.width - channels_ * pixels_;
      pass.resize(below_, gradient.rows, width);
      copy(pass, gradient.data.data(), gradient.width, width, below_.data.data(), below_);
      std::swap(below_, gradient);
    }
    decoder_.backward(pass, *code_, gradient, &below_);
    encoder_.backward(pass, in, below_);
  }

  std::vector<Parameter<T>*> parameters() {
    std::vector<Parameter<T>*> all;
    for (Network<T>* part : parts()) {
      for (Parameter<T>* parameter : part->parameters()) all.push_back(parameter);
    }
    return all;
  }
  std::vector<typename Layer<T>::Numbers*> state() {
    std::vector<typename Layer<T>::Numbers*> all;
    for (Network<T>* part : parts()) {
      for (auto* numbers : part->state()) all.push_back(numbers);
    }
    return all;
  }

 private:
  std::vector<Network<T>*> parts() { return {&encoder_, &decoder_, &correction_}; }

  void add_convolution(Network<T>& to, std::int64_t in, std::int64_t out, std::int64_t size) {
    auto layer = std::make_unique<Convolution<T>>(in, out, size);
    convolutions_.push_back(layer.get());
    to.add(std::move(layer));
  }
  void add_dense(Network<T>& to, std::int64_t in, std::int64_t out) {
    auto layer = std::make_unique<Dense<T>>(in, out);
    dense_.push_back(layer.get());
    to.add(std::move(layer));
  }

  // Copies the first `width` values of rows to an offset in the rows of a batch.
  void copy(const Pass<T>& pass, const NumberOf<T>* from, std::int64_t stride, std::int64_t width,
            NumberOf<T>* place, const Batch<T>& to) {
    pass.run(CopyRowsOp<NumberOf<T>>{{to.rows, width}, from, stride, place, to.width});
  }

  // The channels of both, concatenated.
  const Batch<T>& join(const Pass<T>& pass, const Batch<T>& image, const Batch<T>& in) {
    pass.resize(joined_, in.rows, image.width + in.width);
    NumberOf<T>* const to = joined_.data.data();
    copy(pass, image.data.data(), image.width, image.width, to, joined_);
    copy(pass, in.data.data(), in.width, in.width, to + image.width, joined_);
    return joined_;
  }

  const Batch<T>& add_start(const Pass<T>& pass, const Batch<T>& change, const Batch<T>& in) {
    pass.resize(started_, change.rows, change.width);
    pass.run(AddInverseSoftplusOp<NumberOf<T>>{{change.rows, pixels_},
                                               change.data.data(),
                                               in.data.data(),
                                               in.width,
                                               started_.data.data()});
    return started_;
  }

  std::int64_t pixels_;
  std::int64_t channels_;
  bool corrects_;
  Network<T> encoder_;
  Network<T> decoder_;
  Network<T> correction_;
  Network<T> output_;
  std::vector<Convolution<T>*> convolutions_;
  std::vector<Dense<T>*> dense_;
  Convolution<T>* last_ = nullptr;
  // The last batch's code, and the inputs of the correction and of softplus.
  const Batch<T>* code_ = nullptr;
  const Batch<T>* image_ = nullptr;
  const Batch<T>* raw_ = nullptr;
  Batch<T> joined_;
  Batch<T> started_;
  Batch<T> below_;  // a gradient
};

}  // namespace ancify::autoencoder
