// Encoders of sequences on a GPU: agreement with the CPU within the precision, and speed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/models/device_encoder.h"
#include "core/models/runs.h"
#include "driver.h"
#include "models/random_encoders.h"

namespace ancify::test {
namespace {

// The mean of the states of each sequence's own rows.
std::vector<float> means_of(const Encoder& encoder, const Pack& pack,
                            const std::vector<float>& states) {
  const auto width = static_cast<std::size_t>(encoder.shape.width);
  std::vector<float> means;
  for (const PackRows& rows : pack.own) {
    for (std::size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (std::int64_t i = rows.first; i < rows.end; ++i) {
        sum += static_cast<double>(states[static_cast<std::size_t>(i) * width + j]);
      }
      means.push_back(static_cast<float>(sum / static_cast<double>(rows.end - rows.first)));
    }
  }
  return means;
}

// Encodes a pack, and compares its states, and their means or log-probabilities, with the CPU's.
void check_encoder(Checks& checks, EncoderKernels& kernels, const Encoder& encoder,
                   const Pack& pack) {
  const std::vector<float> states = encode(encoder, pack, best_simd_level(), TaskContext());
  const std::vector<float> means = means_of(encoder, pack, states);
  const std::string what = "an encoder of width " + std::to_string(encoder.shape.width) +
                           " with heads of " + std::to_string(encoder.shape.head_width());
  for (const auto& [precision, most] :
       {std::pair<Precision, double>{Precision::kSingle, 5e-6}, {Precision::kHalf, 5e-3}}) {
    const auto on_device = encoder_on(kernels, encoder, precision, 0);
    on_device->expect(pack.size());
    on_device->begin(pack, EncoderResult::kStates, 0);
    const double of_states = relative_distance(on_device->finish(0), states);
    checks.expect(of_states < most, what + ": states differ by " + std::to_string(of_states));
    if (!encoder.has_head()) {
      on_device->begin(pack, EncoderResult::kMeans, 1);
      const double of_means = relative_distance(on_device->finish(1), means);
      checks.expect(of_means < most, what + ": means differ by " + std::to_string(of_means));
      continue;
    }
    const std::vector<float> expected =
        log_probabilities(encoder, states.data(), pack.size(), best_simd_level());
    on_device->begin(pack, EncoderResult::kLogits, 1);
    const float* const logits = on_device->finish(1);
    std::vector<float> found(logits, logits + expected.size());
    finish_logits(encoder, found.data(), pack.size());
    const double of_logits = relative_distance(found.data(), expected);
    checks.expect(of_logits < most,
                  what + ": probabilities differ by " + std::to_string(of_logits));
  }
}

// Begins only the wanted operations.
class SomeKernels : public EncoderKernels {
 public:
  explicit SomeKernels(EncoderKernels& kernels) : kernels_(kernels) {}
  Device& device() override { return kernels_.device(); }
  std::size_t workspace_for(const EncoderOperation& operation) override {
    return kernels_.workspace_for(operation);
  }
  void begin(const EncoderOperation& operation, int stream) override {
    const std::string name = std::visit([](const auto& op) { return op.kName; }, operation);
    if (wanted.empty() || wanted == name) kernels_.begin(operation, stream);
  }

  std::string wanted;  // the name of operations; all if it is empty

 private:
  EncoderKernels& kernels_;
};

// The seconds of a pack, of many that take turns in two streams.
double seconds_a_pack(Device& device, DeviceEncoder& encoder, const Pack& pack) {
  constexpr int packs = 6;
  const double all = seconds(device, [&] {
    for (int i = 0; i < packs; ++i) {
      if (i >= Device::kStreams) encoder.finish(i % Device::kStreams);
      encoder.begin(pack, EncoderResult::kMeans, i % Device::kStreams);
    }
    for (int stream = 0; stream < Device::kStreams; ++stream) encoder.finish(stream);
  });
  return all / packs;
}

// Begins the matrix products with weights of a forward, from halves to halves, and nothing else.
void begin_products(EncoderKernels& kernels, const Encoder& encoder, std::int64_t tokens,
                    const Half* a, const Half* b, Half* c) {
  const EncoderShape& shape = encoder.shape;
  const auto product = [&](std::int64_t columns, std::int64_t depth) {
    kernels.begin(ProductOp<Half, Half>{tokens, columns, depth, a, depth, b, false, c}, 0);
  };
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    product(3 * shape.width, shape.width);
    product(shape.width, shape.width);
    product((encoder.gated ? 2 : 1) * shape.hidden, shape.width);
    product(shape.width, shape.hidden);
  }
}

double seconds_of_products(EncoderKernels& kernels, const Encoder& encoder, std::int64_t tokens) {
  Device& device = kernels.device();
  MemoryPool pool(device);
  const auto width = static_cast<std::size_t>(encoder.shape.width);
  const std::size_t widest =
      std::max(3 * width, (encoder.gated ? 2 : 1) * static_cast<std::size_t>(encoder.shape.hidden));
  const auto rows = static_cast<std::size_t>(tokens);
  const DeviceArray<Half> a(pool, rows * widest);
  const DeviceArray<Half> b(pool, widest * width);
  const DeviceArray<Half> c(pool, rows * widest);
  std::mt19937 generator(1);
  std::vector<Half> numbers(std::max(a.size(), b.size()));
  for (Half& number : numbers) {
    number = to_half(static_cast<float>(generator() % 2048) / 1024.0F - 1);
  }
  for (const auto* array : {&a, &b}) {
    device.upload(array->data(), numbers.data(), array->size(), 0);
  }
  device.wait(0);
  return seconds(device,
                 [&] { begin_products(kernels, encoder, tokens, a.data(), b.data(), c.data()); });
}

// Packs of equal sequences: whole forwards, each kind of operation alone, and the products with
// weights as cuBLAS does them from halves to halves.
void time_packs(EncoderKernels& kernels, const std::string& what, const Encoder& encoder,
                std::int64_t sequences, std::int64_t length) {
  Device& device = kernels.device();
  RandomEncoders random;
  const Pack pack = random.pack(encoder, std::vector<std::int64_t>(sequences, length));
  SomeKernels some(kernels);
  const auto on_device = encoder_on(some, encoder, Precision::kHalf, 0);
  on_device->expect(pack.size());
  const double whole = seconds_a_pack(device, *on_device, pack);
  const auto alone = [&](const char* name) {
    some.wanted = name;
    return 1e3 * seconds(device, [&] {
             on_device->begin(pack, EncoderResult::kMeans, 0);
             on_device->finish(0);
           });
  };
  const double lone = alone("");
  const double copies = alone("none");
  const double products = seconds_of_products(kernels, encoder, pack.size());
  std::printf("%s, %lld x %lld, fp16: %8.3f ms a pack, products alone %8.3f ms, share %.2f\n",
              what.c_str(), static_cast<long long>(sequences), static_cast<long long>(length),
              1e3 * whole, 1e3 * products, products / whole);
  std::printf("  a lone pack %8.3f ms, of which copies %.3f", lone, copies);
  for (const char* const name :
       {"EmbedOp", "NormOp", "RotateOp", "AttentionOp", "ActivateOp", "ProductOp", "MeanOp"}) {
    std::printf(", %s %.3f", name, alone(name) - copies);
  }
  std::printf("\n");
}

double single_seconds(EncoderKernels& kernels, const Encoder& encoder, std::int64_t sequences,
                      std::int64_t length) {
  RandomEncoders random;
  const Pack pack = random.pack(encoder, std::vector<std::int64_t>(sequences, length));
  const auto on_device = encoder_on(kernels, encoder, Precision::kSingle, 0);
  on_device->expect(pack.size());
  return seconds_a_pack(kernels.device(), *on_device, pack);
}

// A quantile of the normal distribution.
double normal_quantile(double p) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return low;
}

// Lengths as proteins have them: log-normal quantiles with a median of 300 residues, up to 1022.
std::vector<std::int64_t> protein_lengths(int n) {
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < n; ++i) {
    const double length = 300 * std::exp(0.65 * normal_quantile((i + 0.5) / n));
    lengths.push_back(std::min<std::int64_t>(std::lround(length), 1022));
  }
  return lengths;
}

// Mean embeddings of sequences of these lengths, as the package makes them.
void time_embeddings(std::vector<std::unique_ptr<EncoderKernels>>& kernels, const std::string& what,
                     SequenceModel& model, const std::vector<std::int64_t>& lengths) {
  DeviceEncoders devices;
  devices.precision = Precision::kHalf;
  devices.encoders.push_back(encoder_on(*kernels.front(), model.encoder, devices.precision, 0));
  std::vector<Tokenised> sequences;
  std::mt19937 generator(1);
  std::int64_t tokens = 0;
  for (const std::int64_t length : lengths) {
    Tokenised one;
    for (std::int64_t i = 0; i < length; ++i) {
      one.tokens.push_back(static_cast<std::int32_t>(4 + generator() % 20));
    }
    tokens += length + model.marks();
    sequences.push_back(std::move(one));
  }
  RunSettings settings;
  settings.threads = hardware_threads();
  settings.devices = &devices;
  for (const std::int64_t pack : {kPackTokens, kDevicePackTokens, 2 * kDevicePackTokens}) {
    settings.pack_tokens = pack;
    const double took = seconds(kernels.front()->device(), [&] {
      JobControl control;
      embed_means(model, sequences, settings, control);
    });
    std::printf(
        "%s, %zu sequences in packs of %lld: %8.1f a second, %10.0f tokens a second, %lld "
        "repeated\n",
        what.c_str(), sequences.size(), static_cast<long long>(pack),
        static_cast<double>(sequences.size()) / took, static_cast<double>(tokens) / took,
        static_cast<long long>(devices.repeated));
  }
}

}  // namespace

// Queries and keys beyond half precision, whose logits are as before: no row may be wrong but one
// that is not finite.
void check_beyond_half(Checks& checks, EncoderKernels& kernels, RandomEncoders& random) {
  Encoder encoder = random.rotated({1, 32, 2, 40, 33});
  LinearTensors& linear = encoder.layers[0].query_key_value;
  const std::size_t part = linear.bias.size() / 3;
  for (std::size_t i = 0; i < 2 * part; ++i) {
    const float factor = i < part ? 0x1p-16F : 0x1p16F;
    linear.bias[i] *= factor;
    for (std::size_t j = 0; j < 32; ++j) linear.weight[i * 32 + j] *= factor;
  }
  const Pack pack = random.pack(encoder, {1, 2, 3, 40, 70});
  const std::vector<float> states = encode(encoder, pack, best_simd_level(), TaskContext());
  const auto on_device = encoder_on(kernels, encoder, Precision::kHalf, 0);
  on_device->expect(pack.size());
  on_device->begin(pack, EncoderResult::kStates, 0);
  const float* const found = on_device->finish(0);
  int infinite = 0;
  for (std::size_t i = 0; i < states.size(); i += 32) {
    const std::vector<float> expected(&states[i], &states[i] + 32);
    const double distance = relative_distance(found + i, expected);
    if (!std::isfinite(distance)) ++infinite;
    checks.expect(!(distance > 2e-2), "a row beyond half precision is finite and wrong");
  }
  checks.expect(infinite > 0, "no row is beyond half precision");
}

// Encoders of both kinds, with heads of each width that has a kernel of its own, and of others. On
// the host some rows of keys fill several tiles of shared memory.
void check_encoders(Checks& checks, const Backend& backend, Extent extent) {
  const auto kernels = watched(open_encoder_devices(backend));
  RandomEncoders random;
  std::vector<std::int64_t> lengths = {1, 130, 9};
  if (extent != Extent::kSmall) lengths.insert(lengths.end(), {1024, 300, 65, 64, 63, 2});
  const std::int64_t layers = extent == Extent::kSmall ? 1 : 4;
  for (const std::int64_t wide : {16, 20, 24, 32, 64, 70, 128}) {
    for (const Encoder& encoder : {random.rotated({layers, 2 * wide, 2, 96, 33}),
                                   random.sloped({layers, 3 * wide, 3, 72, 50})}) {
      check_encoder(checks, *kernels.front(), encoder, random.pack(encoder, lengths));
    }
  }
  // A row so wide that a thread has more than 12 values.
  const Encoder wide = random.rotated({1, 1540, 14, 8, 33});
  check_encoder(checks, *kernels.front(), wide, random.pack(wide, {3, 2}));
  check_beyond_half(checks, *kernels.front(), random);
  checks.expect_all_begun<EncoderOperation>();
}

// Of ESM-2's and DNABERT-S's shapes. Reads of 150 bases have about 32 tokens of DNA, and six frames
// of 50 residues.
void time_encoders(const Backend& backend) {
  auto kernels = open_encoder_devices(backend);
  RandomEncoders random;
  SequenceModel model;
  model.encoder = random.rotated({12, 480, 20, 1920, 33});
  time_packs(*kernels.front(), "35M", model.encoder, 16, 256);
  time_embeddings(kernels, "35M, proteins", model, protein_lengths(2048));
  model.encoder = random.rotated({33, 1280, 20, 5120, 33});
  time_packs(*kernels.front(), "650M", model.encoder, 16, 256);
  time_packs(*kernels.front(), "650M", model.encoder, 4, 1024);
  time_packs(*kernels.front(), "650M", model.encoder, 78, 52);
  time_embeddings(kernels, "650M, proteins", model, protein_lengths(512));
  time_embeddings(kernels, "650M, frames of 50", model, std::vector<std::int64_t>(4096, 50));
  std::printf("650M, 16 x 256, fp32: %8.3f ms a pack\n",
              1e3 * single_seconds(*kernels.front(), model.encoder, 16, 256));
  model.encoder = random.sloped({12, 768, 12, 3072, 4096});
  time_packs(*kernels.front(), "DNABERT-S", model.encoder, 128, 32);
  time_embeddings(kernels, "DNABERT-S, reads of 150", model, std::vector<std::int64_t>(8192, 30));
}

}  // namespace ancify::test
