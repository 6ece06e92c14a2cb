// Encoders on devices, which keep the weights, receive packs and return rows.
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

// The precision of matrix products' inputs, and of outputs that feed the next product. Sums are in
// single precision; cuBLAS may combine parts of a long sum in the result's precision.
enum class Precision { kSingle, kHalf };

// The result for a pack: one row per token, with its last state or its logits without the head's
// bias; or one row per sequence, with the mean of its own states.
enum class EncoderResult { kStates, kLogits, kMeans };

// An encoder on one device, for one thread at a time.
class DeviceEncoder {
 public:
  DeviceEncoder() = default;
  virtual ~DeviceEncoder() = default;
  DeviceEncoder(const DeviceEncoder&) = delete;
  DeviceEncoder& operator=(const DeviceEncoder&) = delete;

  // Allocates memory for packs of up to this many tokens. DeviceError if it does not suffice.
  virtual void expect(std::int64_t most_tokens) = 0;
  // Begins to encode a pack in a stream.
  virtual void begin(const Pack& pack, EncoderResult wanted, int stream) = 0;
  // Waits for the pack's result, which is valid until the next pack of the stream.
  virtual const float* finish(int stream) = 0;
};

// An encoder on several devices.
struct DeviceEncoders {
  std::vector<std::unique_ptr<EncoderKernels>> kernels;  // of the encoders
  std::vector<std::unique_ptr<DeviceEncoder>> encoders;
  Precision precision = Precision::kSingle;
  // Packs with values beyond half precision, which the CPU recomputed.
  std::atomic<std::int64_t> repeated{0};
};

// Copies the weights to a device. Device and encoder must outlive the result. DeviceError if the
// device has too little memory; `memory_limit` as in memory_budget(). InputError if a head is too
// wide.
std::unique_ptr<DeviceEncoder> encoder_on(EncoderKernels& kernels, const Encoder& encoder,
                                          Precision precision, std::size_t memory_limit);

// The backend's devices; none on the CPU. DeviceError if a device fails.
std::vector<std::unique_ptr<EncoderKernels>> open_encoder_devices(const Backend& backend);

// An encoder on all of the backend's devices; null on the CPU. Errors as from both functions above.
std::unique_ptr<DeviceEncoders> open_device_encoders(const Backend& backend, const Encoder& encoder,
                                                     Precision precision,
                                                     const TaskContext& context);

}  // namespace ancify
