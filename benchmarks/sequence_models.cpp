// Times an ESM-2 of real shape with random weights: 8 proteins of 256 tokens over the matrix
// products alone, two threads over one, and proteins of usual lengths packed over padded.
//
//   ancify_bench_sequence_models [LAYERS WIDTH HEADS]     12 480 20, which is 35M
//
// or tokens of DNA, of texts that sequence_models.py writes:
//
//   ancify_bench_sequence_models TOKENIZER.JSON TEXTS
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/simd.h"
#include "core/models/bpe.h"
#include "core/models/runs.h"
#include "core/nn/layers.h"
#include "models/random_encoders.h"

namespace {

using ancify::EncoderShape;
using ancify::SequenceModel;
using ancify::Tokenised;

constexpr int kRounds = 3;

double least_seconds(const std::function<void()>& work) {
  double least = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

double embedding_seconds(const SequenceModel& model, const std::vector<std::size_t>& lengths,
                         int threads) {
  std::vector<Tokenised> proteins;
  for (const std::size_t length : lengths) {
    proteins.push_back({std::vector<std::int32_t>(length, 5), 0});
  }
  ancify::RunSettings settings;
  settings.threads = threads;
  settings.simd = ancify::best_simd_level();
  return least_seconds([&] {
    ancify::JobControl control;
    ancify::embed_means(model, proteins, settings, control);
  });
}

// The products of a forward of `sequences` with `length` tokens, and nothing else.
double product_seconds(const SequenceModel& model, std::int64_t sequences, std::int64_t length) {
  const EncoderShape& shape = model.encoder.shape;
  const std::int64_t tokens = sequences * length;
  const std::int64_t d = shape.width;
  const std::int64_t wide = shape.head_width();
  std::mt19937 generator(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(static_cast<std::size_t>(tokens * std::max(3 * d, shape.hidden)));
  for (float& number : x) number = uniform(generator);
  std::vector<float> y(x.size());
  std::vector<float> weights(static_cast<std::size_t>(length * length));
  const ancify::Layers& layers = ancify::layers_of(ancify::best_simd_level());
  const auto by_weights = [&](const ancify::LinearTensors& linear, std::int64_t in,
                              std::int64_t out) {
    layers.multiply({tokens, out, in, x.data(), in, linear.weight.data(), in, true, y.data(), out});
  };
  return least_seconds([&] {
    for (const ancify::LayerTensors& layer : model.encoder.layers) {
      by_weights(layer.query_key_value, d, 3 * d);
      for (std::int64_t i = 0; i < sequences * shape.heads; ++i) {
        layers.multiply({length, length, wide, x.data(), 3 * d, x.data() + d, 3 * d, true,
                         weights.data(), length});
        layers.multiply(
            {length, wide, length, weights.data(), length, x.data(), 3 * d, false, y.data(), d});
      }
      by_weights(layer.attention_out, d, d);
      by_weights(layer.up, d, shape.hidden);
      by_weights(layer.down, shape.hidden, d);
    }
  });
}

void time_tokens(const std::string& tokeniser_file, const std::string& texts) {
  const auto tokeniser = ancify::BpeTokeniser::read(tokeniser_file);
  std::vector<std::string> lines;
  std::ifstream file(texts);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::size_t tokens = 0;
  const double seconds = least_seconds([&] {
    tokens = 0;
    std::int64_t unknown = 0;
    for (const std::string& line : lines) tokens += tokeniser.encode(line, unknown).size();
  });
  std::printf("%zu tokens of %zu texts: 1 thread %.4f s\n", tokens, lines.size(), seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    time_tokens(argv[1], argv[2]);
    return 0;
  }
  EncoderShape shape = {12, 480, 20, 1920, 33};
  if (argc == 4) {
    shape.layers = std::atoll(argv[1]);
    shape.width = std::atoll(argv[2]);
    shape.heads = std::atoll(argv[3]);
    shape.hidden = 4 * shape.width;
  }
  SequenceModel model;
  model.encoder = ancify::test::RandomEncoders().rotated(shape);
  std::printf("ESM-2 of %d layers, width %d, products by %s\n", static_cast<int>(shape.layers),
              static_cast<int>(shape.width), ancify::multiplier_name());
  const std::vector<std::size_t> equal(8, 254);  // and two marks
  const double one = embedding_seconds(model, equal, 1);
  const double two = embedding_seconds(model, equal, 2);
  const double products = product_seconds(model, 8, 256);
  std::printf("8 x 256: 1 thread %.3f s, 2 threads %.3f s, products alone %.3f s\n", one, two,
              products);
  std::printf("whole over products %.2f; one thread over two %.2f\n", one / products, one / two);
  // Lengths as proteins have them: their logarithms are normal around 300.
  std::mt19937 generator(3);
  std::lognormal_distribution<double> lengths(std::log(300.0), 0.7);
  std::vector<std::size_t> usual;
  for (int i = 0; i < 16; ++i) {
    usual.push_back(static_cast<std::size_t>(std::clamp(lengths(generator), 30.0, 1022.0)));
  }
  const std::vector<std::size_t> padded(usual.size(),
                                        *std::max_element(usual.begin(), usual.end()));
  std::printf("16 proteins of usual lengths: padded over packed, in time %.2f\n",
              embedding_seconds(model, padded, 1) / embedding_seconds(model, usual, 1));
}
