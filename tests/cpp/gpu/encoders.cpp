// Encoders of sequences on a GPU: the CPU's numbers as far as the precision goes, and the speed.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/models/device_encoder.h"
#include "driver.h"
#include "models/random_encoders.h"

namespace ancify::test {
namespace {

// Encodes a pack, and compares its states and log-probabilities with those of the CPU.
void check_encoder(Checks& checks, EncoderKernels& kernels, const Encoder& encoder,
                   const Pack& pack) {
  const std::vector<float> states = encode(encoder, pack, best_simd_level(), TaskContext());
  const std::string what = "an encoder of width " + std::to_string(encoder.shape.width) +
                           " with heads of " + std::to_string(encoder.shape.head_width());
  for (const auto& [precision, most] :
       {std::pair<Precision, double>{Precision::kSingle, 5e-6}, {Precision::kHalf, 5e-3}}) {
    const auto on_device = encoder_on(kernels, encoder, precision, 0);
    on_device->expect(pack.size());
    on_device->begin(pack, false, 0);
    const double of_states = relative_distance(on_device->finish(0), states);
    checks.expect(of_states < most, what + ": states differ by " + std::to_string(of_states));
    if (!encoder.has_head()) continue;
    const std::vector<float> expected =
        log_probabilities(encoder, states.data(), pack.size(), best_simd_level());
    on_device->begin(pack, true, 1);
    const float* const logits = on_device->finish(1);
    std::vector<float> found(logits, logits + expected.size());
    finish_logits(encoder, found.data(), pack.size());
    const double of_logits = relative_distance(found.data(), expected);
    checks.expect(of_logits < most,
                  what + ": probabilities differ by " + std::to_string(of_logits));
  }
}

// Begins the matrix products with weights of a forward of `tokens`, and nothing else.
template <class Number>
void begin_products(EncoderKernels& kernels, const EncoderShape& shape, std::int64_t tokens,
                    const Number* a, const Number* b, float* c) {
  const std::int64_t d = shape.width;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    kernels.begin(ProductOp<Number>{tokens, 3 * d, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, d, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, shape.hidden, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, d, shape.hidden, a, b, c}, 0);
  }
}

// The products of half precision alone over whole forwards, of 16 proteins of 256 tokens.
void time_encoder(EncoderKernels& kernels, const char* what, const EncoderShape& shape) {
  constexpr std::int64_t tokens = 4096;
  Device& device = kernels.device();
  RandomEncoders random;
  const Encoder encoder = random.rotated(shape);
  const Pack pack = random.pack(encoder, std::vector<std::int64_t>(16, tokens / 16));
  double whole[2];
  for (const Precision precision : {Precision::kSingle, Precision::kHalf}) {
    const auto on_device = encoder_on(kernels, encoder, precision, 0);
    on_device->expect(tokens);
    whole[static_cast<int>(precision)] = seconds(device, [&] {
      on_device->begin(pack, false, 0);
      on_device->finish(0);
    });
  }
  MemoryPool pool(device);
  const auto hidden = static_cast<std::size_t>(shape.hidden);
  const DeviceArray<Half> a(pool, tokens * hidden);
  const DeviceArray<Half> b(pool, hidden * static_cast<std::size_t>(shape.width));
  const DeviceArray<float> c(pool, tokens * hidden);
  for (const auto* array : {&a, &b}) device.fill(array->data(), 0x11, array->size(), 0);
  const double products = seconds(
      device, [&] { begin_products(kernels, shape, tokens, a.data(), b.data(), c.data()); });
  std::printf("%s, 16 x 256: fp32 %8.3f ms, fp16 %8.3f ms, products alone %8.3f ms, share %.2f\n",
              what, 1e3 * whole[0], 1e3 * whole[1], 1e3 * products, products / whole[1]);
}

}  // namespace

// Encoders of both kinds, with heads of each width that has a kernel of its own, and of others. On
// the host some rows of keys fill several tiles of shared memory.
void check_encoders(Checks& checks, const Backend& backend, Extent extent) {
  const auto kernels = watched(open_encoder_devices(backend));
  RandomEncoders random;
  std::vector<std::int64_t> lengths = {1, 65, 130, 9};
  if (extent != Extent::kSmall) lengths.insert(lengths.end(), {1024, 300, 64, 63, 2});
  const std::int64_t layers = extent == Extent::kSmall ? 1 : 4;
  for (const std::int64_t wide : {16, 20, 24, 32, 64, 128}) {
    for (const Encoder& encoder : {random.rotated({layers, 2 * wide, 2, 96, 33}),
                                   random.sloped({layers, 3 * wide, 3, 72, 50})}) {
      check_encoder(checks, *kernels.front(), encoder, random.pack(encoder, lengths));
    }
  }
  checks.expect_all_begun<EncoderOperation>();
}

void time_encoders(const Backend& backend) {
  const auto kernels = open_encoder_devices(backend);
  time_encoder(*kernels.front(), "35M", {12, 480, 20, 1920, 33});
  time_encoder(*kernels.front(), "650M", {33, 1280, 20, 5120, 33});
}

}  // namespace ancify::test
