// Times an ESM-2 of real shape with random weights: 8 proteins of 256 tokens over the matrix
// products alone, two threads over one, and proteins of usual lengths packed over padded.
//
//   ancify_bench_sequence_models [LAYERS WIDTH HEADS]     12 480 20, which is 35M
//
// The variable ANCIFY_SIMD may name a level of vector instructions, as avx2.
//
// sequence_models.py runs it beside PyTorch, and reads the lines "name: number".
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
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrices/level.h"
#include "core/models/bpe.h"
#include "core/models/runs.h"
#include "kernels/level.h"
#include "models/random_encoders.h"
#include "multiplier.h"

namespace {

using ancify::EncoderShape;
using ancify::SequenceModel;
using ancify::Tokenised;

constexpr int kRounds = 3;

// The least of some rounds.
struct Times {
  double elapsed = 1e300;
  double processor = 1e300;
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Times least_times(const std::function<void()>& work) {
  Times least;
  for (int round = 0; round < kRounds; ++round) {
    const double before = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    least.elapsed = std::min(least.elapsed, elapsed.count());
    least.processor = std::min(least.processor, processor_seconds() - before);
  }
  return least;
}

Times embedding_times(const SequenceModel& model, const std::vector<std::size_t>& lengths,
                      int threads) {
  std::vector<Tokenised> proteins;
  for (const std::size_t length : lengths) {
    proteins.push_back({std::vector<std::int32_t>(length, 5), 0});
  }
  ancify::RunSettings settings;
  settings.threads = threads;
  settings.simd = ancify::bench::kernel_level();
  return least_times([&] {
    ancify::JobControl control;
    ancify::embed_means(model, proteins, settings, control);
  });
}

// The products of a forward of `sequences` with `length` tokens, and nothing else.
Times product_times(const SequenceModel& model, std::int64_t sequences, std::int64_t length) {
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
  const auto multiply = ancify::matrix_functions_of(ancify::bench::kernel_level()).multiply_floats;
  const auto by_weights = [&](const ancify::LinearTensors& linear, std::int64_t in,
                              std::int64_t out) {
    multiply({tokens, out, in, x.data(), in, linear.weight.data(), in, true, y.data(), out});
  };
  return least_times([&] {
    for (const ancify::LayerTensors& layer : model.encoder.layers) {
      by_weights(layer.query_key_value, d, 3 * d);
      for (std::int64_t i = 0; i < sequences * shape.heads; ++i) {
        multiply({length, length, wide, x.data(), 3 * d, x.data() + d, 3 * d, true, weights.data(),
                  length});
        multiply(
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
  const Times times = least_times([&] {
    tokens = 0;
    std::int64_t unknown = 0;
    for (const std::string& line : lines) tokens += tokeniser.encode(line, unknown).size();
  });
  std::printf("%zu tokens of %zu texts: 1 thread %.4f s\n", tokens, lines.size(), times.elapsed);
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
              static_cast<int>(shape.width), ancify::bench::kMultiplier);
  const std::vector<std::size_t> equal(8, 254);  // and two marks
  const Times one = embedding_times(model, equal, 1);
  const Times two = embedding_times(model, equal, 2);
  const Times products = product_times(model, 8, 256);
  std::printf("whole over products: %.2f\n", one.processor / products.processor);
  std::printf("1 thread over 2, elapsed: %.2f\n", one.elapsed / two.elapsed);
  // Lengths as of proteins: log-normal around 300.
  std::mt19937 generator(3);
  std::lognormal_distribution<double> lengths(std::log(300.0), 0.7);
  std::vector<std::size_t> usual;
  for (int i = 0; i < 16; ++i) {
    usual.push_back(static_cast<std::size_t>(std::clamp(lengths(generator), 30.0, 1022.0)));
  }
  const std::size_t longest = *std::max_element(usual.begin(), usual.end());
  const Times packed = embedding_times(model, usual, 1);
  const Times padded = embedding_times(model, std::vector<std::size_t>(16, longest), 1);
  std::printf("usual lengths padded over packed: %.2f\n", padded.processor / packed.processor);
  std::printf("tokens of the longest: %zu\n", longest + 2);
  std::printf("equal, 1 thread: %.4f\n", one.processor);
  std::printf("equal, 2 threads: %.4f\n", two.processor);
  std::printf("usual, 1 thread: %.4f\n", packed.processor);
}
