// Encoders on devices: weights stay there, packs go there and rows come back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/models/encoder.h"
#include "core/nn/device_ops.h"

namespace ancify {

using EncoderOperation =
    std::variant<EmbedOp, NormOp<float>, NormOp<Half>, RotateOp<float>, RotateOp<Half>,
                 AttentionOp<float>, AttentionOp<Half>, ActivateOp<float>, ActivateOp<Half>,
                 ProductOp<float, float>, ProductOp<Half, float>, ProductOp<Half, Half>, MeanOp>;
using EncoderKernels = Kernels<EncoderOperation>;

// Of what goes into matrix products, and of what they give on the way to the next. Sums are in
// single precision; cuBLAS may join parts of a long one in that of the result.
enum class Precision { kSingle, kHalf };

// What is made of a pack. A row a token: its last state, or its logits without the head's bias. Or
// a row a sequence: the mean of its own states.
enum class EncoderResult { kStates, kLogits, kMeans };

// An encoder on one device, for one thread at a time.
class DeviceEncoder {
 public:
  DeviceEncoder() = default;
  virtual ~DeviceEncoder() = default;
  DeviceEncoder(const DeviceEncoder&) = delete;
  DeviceEncoder& operator=(const DeviceEncoder&) = delete;

  // Takes memory for packs of up to this many tokens. DeviceError if there is too little.
  virtual void expect(std::int64_t most_tokens) = 0;
  // Begins to encode a pack in a stream.
  virtual void begin(const Pack& pack, EncoderResult wanted, int stream) = 0;
  // Waits for the pack. Valid until the next pack of the stream.
  virtual const float* finish(int stream) = 0;
};

// An encoder on several devices.
struct DeviceEncoders {
  std::vector<std::unique_ptr<EncoderKernels>> kernels;  // of the encoders
  std::vector<std::unique_ptr<DeviceEncoder>> encoders;
  Precision precision = Precision::kSingle;
  // Packs with numbers beyond half precision, which the CPU computed again.
  std::atomic<std::int64_t> repeated{0};
};

// Copies the weights to a device, which must outlive the result, as must the encoder. DeviceError
// if it has too little memory; `memory_limit` as memory_budget() takes it. InputError if a head is
// too wide.
std::unique_ptr<DeviceEncoder> encoder_on(EncoderKernels& kernels, const Encoder& encoder,
                                          Precision precision, std::size_t memory_limit);

// The backend's devices; none on the CPU. DeviceError if a device fails.
std::vector<std::unique_ptr<EncoderKernels>> open_encoder_devices(const Backend& backend);

// An encoder on all of the backend's devices; null on the CPU. Failures are those of both above.
std::unique_ptr<DeviceEncoders> open_device_encoders(const Backend& backend, const Encoder& encoder,
                                                     Precision precision,
                                                     const TaskContext& context);

}  // namespace ancify
