// Encoders of both kinds with random weights, and packs for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/models/encoder.h"
#include "distance.h"

namespace ancify::test {

class RandomEncoders {
 public:
  // Like ESM-2: norms before, a rotation, a language head.
  Encoder rotated(const EncoderShape& shape) {
    Encoder encoder = begun(shape);
    encoder.inverse_frequencies.resize(static_cast<std::size_t>(shape.head_width() / 2));
    for (float& frequency : encoder.inverse_frequencies) frequency = std::fabs(normal(0, 0.3F));
    add_layers(encoder, false);
    encoder.last_norm = norm(shape.width);
    encoder.head.dense = linear(shape.width, shape.width);
    encoder.head.norm = norm(shape.width);
    encoder.head.out.bias = numbers(shape.vocabulary, 0, 0.3F);
    return encoder;
  }
  // Like DNABERT-S: norms after, slopes, gates, a norm of embeddings.
  Encoder sloped(const EncoderShape& shape) {
    Encoder encoder = begun(shape);
    encoder.norms = NormPlace::kAfter;
    encoder.gated = true;
    encoder.embedding_norm = norm(shape.width);
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      encoder.slopes.push_back(0.3F / static_cast<float>(h + 1));
    }
    add_layers(encoder, true);
    return encoder;
  }
  // Sequences of these lengths, in tokens.
  Pack pack(const Encoder& encoder, const std::vector<std::int64_t>& lengths) {
    Pack pack;
    pack.zero_token = 3;
    pack.offsets = {0};
    for (const std::int64_t length : lengths) {
      for (std::int64_t i = 0; i < length; ++i) {
        pack.tokens.push_back(static_cast<std::int32_t>(
            generator_() % static_cast<std::uint64_t>(encoder.shape.vocabulary)));
      }
      pack.own.push_back({pack.offsets.back() + length / 3, pack.size()});
      pack.offsets.push_back(pack.size());
      pack.scales.push_back(0.88F + 0.1F * static_cast<float>(pack.scales.size()));
    }
    return pack;
  }

 private:
  float normal(float mean, float sd) {
    return std::normal_distribution<float>(mean, sd)(generator_);
  }
  std::vector<float> numbers(std::int64_t n, float mean, float sd) {
    std::vector<float> numbers(static_cast<std::size_t>(n));
    const std::size_t drawn = std::min(numbers.size(), kMostDrawn);
    for (std::size_t i = 0; i < drawn; ++i) numbers[i] = normal(mean, sd);
    // Further values repeat the drawn ones, from another offset each time.
    for (std::size_t i = drawn; i < numbers.size(); ++i) {
      numbers[i] = numbers[(i + i / kMostDrawn * 7919) % kMostDrawn];
    }
    return numbers;
  }
  NormTensors norm(std::int64_t width) {
    return {numbers(width, 1, 0.3F), numbers(width, 0, 0.3F)};
  }
  LinearTensors linear(std::int64_t out, std::int64_t in) {
    return {numbers(out * in, 0, 1 / std::sqrt(static_cast<float>(in))), numbers(out, 0, 0.3F)};
  }
  Encoder begun(const EncoderShape& shape) {
    Encoder encoder;
    encoder.shape = shape;
    encoder.embedding = numbers(shape.vocabulary * shape.width, 0, 1);
    return encoder;
  }
  void add_layers(Encoder& encoder, bool gated) {
    const auto [layers, width, heads, hidden, vocabulary] = encoder.shape;
    for (std::int64_t i = 0; i < layers; ++i) {
      encoder.layers.push_back({norm(width), linear(3 * width, width), linear(width, width),
                                norm(width), linear((gated ? 2 : 1) * hidden, width),
                                linear(width, hidden)});
      if (gated) encoder.layers.back().up.bias.clear();
    }
  }

  static constexpr std::size_t kMostDrawn = std::size_t{1} << 18;

  std::mt19937 generator_{1};
};

}  // namespace ancify::test
