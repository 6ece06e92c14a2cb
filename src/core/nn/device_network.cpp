// Layers that multiply, on a device. A library computes the products of dense layers, and our own
// kernels the convolutions. Gradients of convolution weights are sums over parts of the images,
// which are then added in order.
#include "core/nn/device_network.h"

#include <algorithm>

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/network_kernels.h"
#endif

namespace ancify {

std::unique_ptr<NetworkKernels> open_network_device(const Backend& backend) {
  check_usable_here(backend);
#ifdef ANCIFY_HAVE_CUDA
  if (!backend.devices.empty()) {
    const int number = backend.devices.front();
    return cuda::open_network_kernels(number, number / backend.gpus_per_card);
  }
#endif
  return nullptr;
}

// ---- Dense --------------------------------------------------------------------------------------

template <>
void Dense<OnDevice>::forward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                              Batch<OnDevice>& out) {
  pass.resize(out, in.rows, out_);
  pass.run(MatrixProductOp{{in.rows, out_, in_, in.data.data(), in_, weight_.value.data(), in_,
                            true, out.data.data(), out_}});
  pass.run(AddRowOp<float>{{in.rows, out_}, bias_.value.data(), out.data.data()});
}

template <>
void Dense<OnDevice>::backward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                               const Batch<OnDevice>& /*out*/, const Batch<OnDevice>& out_gradient,
                               Batch<OnDevice>* in_gradient) {
  const float* const gradient = out_gradient.data.data();
  pass.run(MatrixProductOp{{out_, in_, in.rows, gradient, out_, in.data.data(), in_, false,
                            weight_.gradient.data(), in_, true}});
  // Gradients of the biases alone
  pass.run(AddPartsOp<float>{{out_, 1}, gradient, in.rows, nullptr, bias_.gradient.data()});
  if (in_gradient == nullptr) return;
  pass.resize(*in_gradient, in.rows, in_);
  pass.run(MatrixProductOp{{in.rows, in_, out_, gradient, out_, weight_.value.data(), in_, false,
                            in_gradient->data.data(), in_}});
}

// ---- Convolution --------------------------------------------------------------------------------

template <>
void Convolution<OnDevice>::forward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                                    Batch<OnDevice>& out) {
  pass.resize(out, in.rows, out_ * pixels_);
  const ImageShape images = {static_cast<std::int32_t>(in_), static_cast<std::int32_t>(size_)};
  pass.run(ConvolveOp{{in.rows * out_, pixels_},
                      images,
                      in.data.data(),
                      weight_.value.data(),
                      bias_.value.data(),
                      static_cast<std::int32_t>(out_),
                      out.data.data()});
}

template <>
void Convolution<OnDevice>::backward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                                     const Batch<OnDevice>& /*out*/,
                                     const Batch<OnDevice>& out_gradient,
                                     Batch<OnDevice>* in_gradient) {
  const ImageShape images = {static_cast<std::int32_t>(in_), static_cast<std::int32_t>(size_)};
  const ImageShape images_out = {static_cast<std::int32_t>(out_), images.size};
  const float* const gradient = out_gradient.data.data();
  const std::int64_t windows = in.rows * images.windows();
  const std::int64_t n = (windows + WeightSumsOp::kWindows - 1) / WeightSumsOp::kWindows;
  const std::int64_t columns = 9 * in_ + 1;
  pass.workspace.make_room(pass.workspace.parts, static_cast<std::size_t>(n * out_ * columns));
  float* const parts = pass.workspace.parts.data();
  pass.run(WeightSumsOp{{n * out_, columns},
                        images,
                        in.data.data(),
                        images_out,
                        gradient,
                        static_cast<std::int32_t>(windows),
                        parts});
  pass.run(
      AddPartsOp<float>{{out_, columns}, parts, n, weight_.gradient.data(), bias_.gradient.data()});
  if (in_gradient == nullptr) return;
  pass.resize(*in_gradient, in.rows, in_ * pixels_);
  pass.run(ConvolveOp{{in.rows * in_, pixels_},
                      images_out,
                      gradient,
                      weight_.value.data(),
                      nullptr,
                      static_cast<std::int32_t>(in_),
                      in_gradient->data.data()});
}

// ---- Parameters ---------------------------------------------------------------------------------

DeviceParameters::DeviceParameters(NetworkWorkspace& workspace,
                                   const std::vector<Parameter<OnDevice>*>& parameters,
                                   const std::vector<std::vector<float>>& tensors, bool training)
    : workspace_(workspace), parameters_(parameters) {
  constexpr std::int64_t alignment = 64;  // elements, so that products use wide loads
  std::vector<std::int64_t> places;
  for (const Parameter<OnDevice>* parameter : parameters) {
    places.push_back(n_);
    n_ += (parameter->value.n + alignment - 1) / alignment * alignment;
  }
  const auto n = static_cast<std::size_t>(n_);
  std::vector<DeviceArray<float>*> arrays = {&values_};
  if (training) arrays.insert(arrays.end(), {&gradients_, &means_, &squares_});
  for (auto* array : arrays) *array = workspace_.taker().take<float>(n);
  for (const auto* array : arrays) workspace_.device().fill(array->data(), 0, n, 0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter<OnDevice>& parameter = *parameters[i];
    parameter.value.there = values_.data() + places[i];
    if (training) parameter.gradient.there = gradients_.data() + places[i];
    workspace_.device().upload(parameter.value.there, tensors[i].data(), tensors[i].size(), 0);
  }
  workspace_.device().wait(0);
}

void DeviceParameters::step(float rate, int stream) {
  constexpr std::int64_t columns = 1 << 12;
  workspace_.kernels().begin(AdamOp<float>{{(n_ + columns - 1) / columns, columns},
                                           AdamFactors<float>(rate, ++steps_),
                                           n_,
                                           gradients_.data(),
                                           values_.data(),
                                           means_.data(),
                                           squares_.data()},
                             stream);
}

std::vector<std::vector<float>> DeviceParameters::values(int stream) const {
  std::vector<std::vector<float>> tensors;
  for (const Parameter<OnDevice>* parameter : parameters_) {
    tensors.emplace_back(static_cast<std::size_t>(parameter->value.n));
  }
  Device& device = workspace_.device();
  drained_on_failure(device, [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      device.download(tensors[i].data(), parameters_[i]->value.data(), tensors[i].size(), stream);
    }
    device.wait(stream);
  });
  return tensors;
}

}  // namespace ancify
