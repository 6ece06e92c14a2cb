// Networks on a device: the layers of network.h, with batches and parameters in the device's
// memory. Layers that multiply have their own steps (device_network.cpp). All others share the
// host's code, as each operation is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/device/taker.h"
#include "core/nn/dense_layers.h"
#include "core/nn/image_layers.h"
#include "core/nn/network.h"
#include "core/nn/network_ops.h"

namespace ancify {

using NetworkOperation =
    std::variant<ReluOp<float>, ReluSlopeOp<float>, SoftplusOp<float>, SoftplusSlopeOp<float>,
                 AddInverseSoftplusOp<float>, CopyRowsOp<float>, AddRowOp<float>, AddPartsOp<float>,
                 MaxPoolOp<float>, MaxPoolSlopeOp<float>, UpsampleOp<float>, UpsampleSlopeOp<float>,
                 SymmetricOp<float>, ConvolveOp, WeightSumsOp, SquaredErrorOp<float>, AdamOp<float>,
                 MatrixProductOp>;
using NetworkKernels = Kernels<NetworkOperation>;

// The first of the backend's devices; null on the CPU. DeviceError if it fails.
std::unique_ptr<NetworkKernels> open_network_device(const Backend& backend);

// The workspace of a network: a device, and memory for batches. Two streams may alternate in using
// it, if each waits for the other's work.
class NetworkWorkspace {
 public:
  NetworkWorkspace(NetworkKernels& kernels, std::size_t memory_limit)
      : kernels_(kernels), pool_(kernels.device()), taker_(pool_, memory_limit, 0) {}

  Device& device() const { return kernels_.device(); }
  NetworkKernels& kernels() const { return kernels_; }
  Taker& taker() { return taker_; }
  // Ensures space for n values. Waits for queued work only if the array grows.
  void make_room(DeviceArray<float>& array, std::size_t n) {
    if (n <= array.size()) return;
    for (int stream = 0; stream < Device::kStreams; ++stream) device().wait(stream);
    taker_.grow(array, n);
  }

 private:
  NetworkKernels& kernels_;
  MemoryPool pool_;
  Taker taker_;

 public:
  DeviceArray<float> parts;  // of gradients
};

// ---- In place of a host's number type -----------------------------------------------------------

struct OnDevice {};

template <>
struct PlainNumber<OnDevice> {
  using Type = float;
};

template <>
struct Batch<OnDevice> {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  DeviceArray<float> data;
};

// Values within a larger array.
struct DeviceTensor {
  std::int64_t n = 0;
  float* there = nullptr;
  float* data() const { return there; }
};

template <>
struct Parameter<OnDevice> {
  explicit Parameter(std::int64_t n) : value{n}, gradient{n} {}
  DeviceTensor value;
  DeviceTensor gradient;
};

template <>
struct Pass<OnDevice> {
  NetworkWorkspace& workspace;
  int stream = 0;
  bool training = false;

  void resize(Batch<OnDevice>& batch, std::int64_t rows, std::int64_t width) const {
    batch.rows = rows;
    batch.width = width;
    workspace.make_room(batch.data, static_cast<std::size_t>(rows * width));
  }
  template <class Op>
  void run(const Op& op) const {
    workspace.kernels().begin(op, stream);
  }
};

template <>
void Dense<OnDevice>::forward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                              Batch<OnDevice>& out);
template <>
void Dense<OnDevice>::backward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                               const Batch<OnDevice>& out, const Batch<OnDevice>& out_gradient,
                               Batch<OnDevice>* in_gradient);
template <>
void Convolution<OnDevice>::forward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                                    Batch<OnDevice>& out);
template <>
void Convolution<OnDevice>::backward(const Pass<OnDevice>& pass, const Batch<OnDevice>& in,
                                     const Batch<OnDevice>& out,
                                     const Batch<OnDevice>& out_gradient,
                                     Batch<OnDevice>* in_gradient);

// All parameters of a network in one array, with Adam's moments. The workspace must outlive it.
class DeviceParameters {
 public:
  // Without training, gradients take no memory. `tensors`: the parameters' values. Use this within
  // drained_on_failure().
  DeviceParameters(NetworkWorkspace& workspace, const std::vector<Parameter<OnDevice>*>& parameters,
                   const std::vector<std::vector<float>>& tensors, bool training);

  // Begins a step of Adam against the gradients.
  void step(float rate, int stream);
  // Waits for the values, and returns them.
  std::vector<std::vector<float>> values(int stream) const;

 private:
  NetworkWorkspace& workspace_;
  std::vector<Parameter<OnDevice>*> parameters_;
  std::int64_t n_ = 0;
  DeviceArray<float> values_;
  DeviceArray<float> gradients_;
  DeviceArray<float> means_;
  DeviceArray<float> squares_;
  double steps_ = 0;
};

}  // namespace ancify
